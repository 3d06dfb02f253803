// SPDX-License-Identifier: Apache-2.0
import type { Clock, Delay } from '#base/ports.ts';
import { WatchError } from './watch-error.ts';

/** Aborts a watch that is silent for too long. */
export interface IdleTimeout {
  /**
   * Aborted with the outer signal, or with a WatchError `silent` after `timeoutMs` without a reset.
   */
  readonly signal: AbortSignal;
  /** Records an event. Cheap, because it is called for every event of a watch. */
  reset(): void;
  /** Frees the timer. Call it when the watch ends. */
  stop(): void;
}

/** The dependencies of an {@link IdleTimeout}. */
export interface IdleTimeoutInit {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly delay: Delay;
}

/**
 * Starts the timeout of one watch. Events count, bytes do not: a connection that trickles a byte a
 * second is as dead as one that is half open.
 */
export function createIdleTimeout(init: IdleTimeoutInit, outer: AbortSignal): IdleTimeout {
  const own = new AbortController();
  let last = init.clock();
  let resets = 0;

  async function expire(): Promise<void> {
    for (let left = init.timeoutMs; left > 0;) {
      const before = resets;
      await init.delay(left, own.signal);
      // Also counts resets: a clock that is set back would otherwise keep a dead watch for that
      // long.
      const more = Math.min(last + init.timeoutMs - init.clock(), init.timeoutMs);
      left = resets === before ? 0 : more;
    }
    own.abort(new WatchError('silent', `no event for ${Math.round(init.timeoutMs / 1000)} s`));
  }

  // Rejects when `stop` aborts its delay.
  expire().catch(() => undefined);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    reset: () => {
      resets += 1;
      last = init.clock();
    },
    stop: () => {
      own.abort();
    },
  };
}
