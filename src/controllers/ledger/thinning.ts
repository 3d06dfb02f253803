// SPDX-License-Identifier: Apache-2.0
/** Removes checkpoints that later ones make superfluous: one each five seconds would be six millions a year. */
import type { LedgerStore } from '../../ledger/index.ts';
import type { Component } from '../../runtime/component/component.ts';
import { PAUSE_MILLISECONDS, type HourlyTask } from './hourly.ts';

/** What thinning needs. */
export interface ThinningInit {
  readonly component: Pick<Component, 'delay' | 'log'>;
  readonly store: Pick<LedgerStore, 'logs' | 'thin'>;
  readonly leads: () => boolean;
}

/** Looks through the checkpoints that have become old since the last time; after a start through all. */
export function thinningTask({ component, store, leads }: ThinningInit): HourlyTask {
  /** Of each log, how far it was looked through. */
  const reached = new Map<number, number>();

  /** Returns how many it has removed. */
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
    affects: 'no checkpoint is removed',
    run: async (signal) => {
      for (const { number } of await store.logs()) {
        const removed = await thin(number, signal);
        if (removed > 0) component.log.info({ log: number, removed }, 'checkpoints are thinned');
      }
      return { done: leads() };
    },
  };
}
