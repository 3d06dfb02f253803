// SPDX-License-Identifier: Apache-2.0
/** Removes records after the retention time, if one is set, and superfluous checkpoints. */
import type { LedgerStore } from '../index.ts';
import { createHourly, type Hourly } from './hourly.ts';
import { retentionTask, type RetentionInit } from './retention.ts';
import { thinningTask } from './thinning.ts';

/** Dependencies of removal. */
export interface RemovalInit extends Omit<RetentionInit, 'seconds'> {
  readonly store: Pick<LedgerStore, 'erase' | 'scrub' | 'logs' | 'thin'>;
  /** How long to keep records, or undefined to keep them indefinitely. */
  readonly seconds: number | undefined;
}

/** Returns the hourly tasks of the leader. */
export function createRemoval({ seconds, ...init }: RemovalInit): Hourly {
  const leads = (): boolean => init.naming() !== undefined;
  return createHourly(init.component, leads, [
    thinningTask({ ...init, leads }),
    ...(seconds === undefined ? [] : [retentionTask({ ...init, seconds })]),
  ]);
}
