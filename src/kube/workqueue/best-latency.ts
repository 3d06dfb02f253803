// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';

/** The shortest that was seen lately: how long a write takes when nobody is in its way. */
export interface BestLatency {
  /** @returns the shortest of this and the last window, this one included */
  readonly note: (milliseconds: number) => number;
}

/** Long enough to hold a quiet moment, short enough to forget a server that was faster. */
export const WINDOW_MS = 5 * 60_000;

export function createBestLatency(clock: Clock): BestLatency {
  let before = Infinity;
  let best = Infinity;
  let since = clock();
  return {
    note: (milliseconds) => {
      const now = clock();
      if (Math.abs(now - since) >= WINDOW_MS) {
        before = best;
        best = Infinity;
        since = now;
      }
      best = Math.min(best, milliseconds);
      return Math.min(best, before);
    },
  };
}
