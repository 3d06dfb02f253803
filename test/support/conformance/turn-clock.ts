// SPDX-License-Identifier: Apache-2.0

/** The time that passes in one turn, in milliseconds. */
const TURN_MS = 5;

/** A clock that passes by turns of the event loop, and delays that end by it. */
export interface TurnClock {
  /** Milliseconds since the clock was started. */
  readonly elapsed: () => number;
  /** Resolves after this many milliseconds of the clock. @throws the signal's reason */
  readonly delay: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Starts a clock for work in memory. It runs as fast as a real one where the process runs. While a
 * busy machine keeps the process from running, it stands still: no time limit passes meanwhile.
 */
export function startTurnClock(): TurnClock {
  let elapsed = 0;
  const waiting = new Set<() => void>();
  // An interval that is late fires once, not once for each period that has passed.
  setInterval(() => {
    elapsed += TURN_MS;
    for (const wake of [...waiting]) wake();
  }, TURN_MS).unref();
  return {
    elapsed: () => elapsed,
    delay: (milliseconds, signal) => {
      const until = elapsed + milliseconds;
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      // It keeps the process alive, as a timer does.
      const alive = setInterval(() => undefined, 3_600_000);
      const end = (): void => {
        clearInterval(alive);
        waiting.delete(wake);
        signal?.removeEventListener('abort', abort);
      };
      const wake = (): void => {
        if (elapsed < until) return;
        end();
        resolve(undefined);
      };
      const abort = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      waiting.add(wake);
      signal?.addEventListener('abort', abort);
      if (signal?.aborted === true) abort();
      return promise.then(() => undefined);
    },
  };
}
