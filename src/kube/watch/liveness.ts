// SPDX-License-Identifier: Apache-2.0
import type { Clock, Delay } from '../../ports.ts';
import { WatchTrouble } from './watch-trouble.ts';

/** Aborts what has been silent for too long. */
export interface Liveness {
  /** Aborted with the outer signal, or with a WatchTrouble when nothing was heard for `silenceMs`. */
  readonly signal: AbortSignal;
  /** Something was heard. Cheap: called for every line of a watch. */
  heard(): void;
  /** Must be called at the end; frees the timer. */
  end(): void;
}

export interface LivenessInit {
  readonly silenceMs: number;
  readonly clock: Clock;
  readonly delay: Delay;
}

/**
 * Watches over one watch. Bytes do not count, lines do: a connection that trickles a byte a second
 * is as dead as one that is half open.
 */
export function watchOver(init: LivenessInit, outer: AbortSignal): Liveness {
  const own = new AbortController();
  let last = init.clock();
  let times = 0;

  async function guard(): Promise<void> {
    for (let left = init.silenceMs; left > 0;) {
      const before = times;
      await init.delay(left, own.signal);
      // Not by the clock alone: one that is set back would keep a dead watch for as long.
      const more = Math.min(last + init.silenceMs - init.clock(), init.silenceMs);
      left = times === before ? 0 : more;
    }
    own.abort(
      new WatchTrouble('silent', `nothing was heard for ${Math.round(init.silenceMs / 1000)} s`),
    );
  }

  // It ends by rejection when `end` aborts its delay.
  guard().catch(() => undefined);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    heard: () => {
      times += 1;
      last = init.clock();
    },
    end: () => {
      own.abort();
    },
  };
}
