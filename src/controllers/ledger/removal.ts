// SPDX-License-Identifier: Apache-2.0
/** What goes by itself: records where somebody said so, and checkpoints that later ones make superfluous. */
import type { LedgerStore } from '../../ledger/index.ts';
import { createHourly, type Hourly } from './hourly.ts';
import { retentionTask, type RetentionInit } from './retention.ts';
import { thinningTask } from './thinning.ts';

/** What removal is made of. */
export interface RemovalInit extends Omit<RetentionInit, 'seconds'> {
  readonly store: Pick<LedgerStore, 'erase' | 'scrub' | 'logs' | 'thin'>;
  /** How long records are kept; nothing: for ever. */
  readonly seconds: number | undefined;
}

/** Once an hour, by who leads. */
export function createRemoval({ seconds, ...init }: RemovalInit): Hourly {
  const leads = (): boolean => init.naming() !== undefined;
  return createHourly(init.component, leads, [
    thinningTask({ ...init, leads }),
    ...(seconds === undefined ? [] : [retentionTask({ ...init, seconds })]),
  ]);
}
