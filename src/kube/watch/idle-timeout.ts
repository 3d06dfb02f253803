// SPDX-License-Identifier: Apache-2.0
import type { Clock, Delay } from '../../ports.ts';
import { WatchError } from './watch-error.ts';

/** Aborts what has been silent for too long. */
export interface IdleTimeout {
  /** Aborted with the outer signal, or with a WatchTrouble when nothing was heard for `silenceMs`. */
  readonly signal: AbortSignal;
  /** Something was heard. Cheap: called for every line of a watch. */
  reset(): void;
  /** Must be called at the end; frees the timer. */
  stop(): void;
}

export interface IdleTimeoutInit {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly delay: Delay;
}

/**
 * Watches over one watch. Bytes do not count, lines do: a connection that trickles a byte a second
 * is as dead as one that is half open.
 */
export function createIdleTimeout(init: IdleTimeoutInit, outer: AbortSignal): IdleTimeout {
  const own = new AbortController();
  let last = init.clock();
  let times = 0;

  async function guard(): Promise<void> {
    for (let left = init.timeoutMs; left > 0;) {
      const before = times;
      await init.delay(left, own.signal);
      // Not by the clock alone: one that is set back would keep a dead watch for as long.
      const more = Math.min(last + init.timeoutMs - init.clock(), init.timeoutMs);
      left = times === before ? 0 : more;
    }
    own.abort(
      new WatchError('silent', `nothing was heard for ${Math.round(init.timeoutMs / 1000)} s`),
    );
  }

  // It ends by rejection when `end` aborts its delay.
  guard().catch(() => undefined);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    reset: () => {
      times += 1;
      last = init.clock();
    },
    stop: () => {
      own.abort();
    },
  };
}
