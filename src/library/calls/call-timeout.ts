// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '../../ports.ts';

/** Runs work with a signal that is aborted when its time is up, and does not wait for it any longer. */
export type CallTimeout = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

interface Running {
  left: number;
  readonly end: () => void;
}

/** One timer for all calls: one of its own costs each as much as a tenth of a signature. */
const TICK_MS = 1_000;

/** @param limitMs - kept to within a second */
export function createCallTimeout(delay: Delay, limitMs: number): CallTimeout {
  const running = new Set<Running>();
  let ticking = false;

  async function tick(): Promise<void> {
    ticking = true;
    while (running.size > 0) {
      await delay(TICK_MS);
      for (const each of running) {
        each.left -= TICK_MS;
        if (each.left <= 0) each.end();
      }
    }
    ticking = false;
  }

  return async <T>(work: (signal: AbortSignal) => Promise<T>) => {
    const late = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const call: Running = {
      left: limitMs,
      end: () => {
        running.delete(call);
        const error = new Error(`no answer within ${Math.round(limitMs)} ms`);
        late.abort(error);
        reject(error);
      },
    };
    running.add(call);
    if (!ticking) void tick();
    try {
      // Whoever is no promise is one, too: authors need not have a compiler.
      Promise.resolve(work(late.signal)).then(resolve, reject);
      return await promise;
    } finally {
      running.delete(call);
    }
  };
}
