// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '#base/ports.ts';

/** A sleep that can be ended early. */
export interface Wakeup {
  /** Ends the current wait, or the next one before it begins. */
  wake(): void;
  /** Resolves after `ms` milliseconds, at a wakeup, or when `signal` is aborted. One at a time. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** @returns a sleep without a pending wakeup */
export function createWakeup(delay: Delay): Wakeup {
  let woken = false;
  let waiting: AbortController | undefined;
  return {
    wake: () => {
      woken = true;
      waiting?.abort();
    },
    wait: async (ms, signal) => {
      if (!woken && !signal.aborted) {
        waiting = new AbortController();
        const either = AbortSignal.any([signal, waiting.signal]);
        await delay(ms, either).catch(() => undefined);
        waiting = undefined;
      }
      woken = false;
    },
  };
}
