// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '#base/ports.ts';
import * as messages from '../messages.ts';

/**
 * Runs work with a signal that aborts at the end of its time. Then rejects without waiting for the
 * work.
 */
export type CallTimeout = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

interface RunningCall {
  left: number;
  readonly end: () => void;
}

/** Interval of one timer for all calls. A timer for each call would cost a tenth of a signature. */
const TICK_MS = 1_000;

/**
 * Creates a timeout that many calls share.
 *
 * @param limitMs - milliseconds. A call may take up to a second more
 */
export function createCallTimeout(delay: Delay, limitMs: number): CallTimeout {
  const running = new Set<RunningCall>();
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
    const call: RunningCall = {
      left: limitMs,
      end: () => {
        running.delete(call);
        const error = new Error(messages.callTimeout(Math.round(limitMs)));
        late.abort(error);
        reject(error);
      },
    };
    running.add(call);
    if (!ticking) void tick();
    try {
      // Accept a plain value, too: authors may write JavaScript without types.
      Promise.resolve(work(late.signal)).then(resolve, reject);
      return await promise;
    } finally {
      running.delete(call);
    }
  };
}
