// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '../../ports.ts';

/** A wait that can be cut short. */
export interface Wakeup {
  /** Ends the wait that is under way, or else the next one before it begins. */
  wake(): void;
  /** Resolves after `ms`, at a ring, or when `signal` is aborted. One at a time. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWakeup(delay: Delay): Wakeup {
  let rung = false;
  let waiting: AbortController | undefined;
  return {
    wake: () => {
      rung = true;
      waiting?.abort();
    },
    wait: async (ms, signal) => {
      if (!rung && !signal.aborted) {
        waiting = new AbortController();
        const either = AbortSignal.any([signal, waiting.signal]);
        await delay(ms, either).catch(() => undefined);
        waiting = undefined;
      }
      rung = false;
    },
  };
}
