// SPDX-License-Identifier: Apache-2.0
/**
 * Removes checkpoints that later ones make superfluous. One each five seconds would be six millions
 * a year.
 */
import type { LedgerStore } from '../index.ts';
import type { Component } from '#component/contract.ts';
import { PAUSE_MILLISECONDS, type HourlyTask } from './hourly.ts';
import * as messages from './messages.ts';

/** Dependencies of thinning. */
export interface ThinningInit {
  readonly component: Pick<Component, 'delay' | 'log'>;
  readonly store: Pick<LedgerStore, 'logs' | 'thin'>;
  readonly leads: () => boolean;
}

/**
 * Returns the task, which examines checkpoints that became old since the last run. The first run
 * examines all.
 */
export function thinningTask({ component, store, leads }: ThinningInit): HourlyTask {
  /** Size of each log up to which it was thinned. */
  const reached = new Map<number, number>();

  /** Thins a log. Returns the number of removed checkpoints. */
  async function thin(log: number, signal: AbortSignal): Promise<number> {
    let removed = 0;
    while (leads() && !signal.aborted) {
      const thinned = await store.thin(log, reached.get(log) ?? 0);
      reached.set(log, thinned.next);
      removed += thinned.removed;
      if (thinned.done) break;
      await component.delay(PAUSE_MILLISECONDS, signal).catch(() => undefined);
    }
    return removed;
  }

  return {
    impact: messages.CHECKPOINTS_STAY,
    run: async (signal) => {
      for (const { number } of await store.logs()) {
        const removed = await thin(number, signal);
        if (removed > 0) component.log.info({ log: number, removed }, messages.CHECKPOINTS_THINNED);
      }
      return { done: leads() };
    },
  };
}
