// SPDX-License-Identifier: Apache-2.0
/** The signatures of one token that wait until its module can begin them. */
import type { Delay } from '#base/ports.ts';
import { TokenFault } from './orders.ts';

/**
 * A queue in front of a module. The limit of an order begins when the module gets it, so an order
 * that the module could not begin must not be sent: the holder would take the module for one that
 * hangs.
 */
export interface SigningQueue {
  /**
   * Runs a task when one of the places is free, in the order of arrival.
   *
   * @param maxWaitMs - without it, the task waits as long as the tasks before it
   * @throws TokenFault with scope `busy` if no place is free in this time. Then it does not run.
   */
  readonly run: <T>(task: () => Promise<T>, maxWaitMs?: number) => Promise<T>;
}

interface QueueState {
  free: number;
  readonly waiting: (() => void)[];
}

/** Creates a queue with a number of places. */
export function createSigningQueue(places: number, delay: Delay): SigningQueue {
  const state: QueueState = { free: places, waiting: [] };
  return {
    run: async (task, maxWaitMs) => {
      if (state.free > 0) state.free -= 1;
      else await placeOf(state, delay, maxWaitMs);
      try {
        return await task();
      } finally {
        const next = state.waiting.shift();
        if (next === undefined) state.free += 1;
        else next();
      }
    },
  };
}

function placeOf(state: QueueState, delay: Delay, maxWaitMs: number | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wait = new AbortController();
    const begin = (): void => {
      wait.abort();
      resolve();
    };
    state.waiting.push(begin);
    if (maxWaitMs === undefined) return;
    const giveUp = (): void => {
      const at = state.waiting.indexOf(begin);
      if (at === -1) return;
      state.waiting.splice(at, 1);
      const seconds = maxWaitMs / 1000;
      reject(
        new TokenFault(`busy: its module could not begin a signature within ${seconds} s`, 'busy'),
      );
    };
    delay(maxWaitMs, wait.signal).then(giveUp, () => undefined);
  });
}
