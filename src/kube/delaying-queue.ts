// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../ports.ts';
import type { Queue } from './queue.ts';

/** A queue to which a key can also be added later. Of several times for one key the earliest wins. */
export interface DelayingQueue extends Queue {
  /** Adds `key` at `time` (milliseconds of the clock). */
  readonly addAt: (key: string, time: number) => void;
  /** Forgets the later adding of `key`, if there is one. */
  readonly cancel: (key: string) => void;
}

/** setTimeout overflows at 2³¹ ms and then fires at once: longer waits are taken in pieces. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs `action` after `ms`; the result cancels. `cli` passes setTimeout in. */
export type StartTimer = (ms: number, action: () => void) => () => void;

export function createDelayingQueue(
  queue: Queue,
  clock: Clock,
  startTimer: StartTimer,
): DelayingQueue {
  const waiting = new Map<string, { readonly time: number; readonly stop: () => void }>();
  let closed = false;

  function cancel(key: string): void {
    waiting.get(key)?.stop();
    waiting.delete(key);
  }

  function arm(key: string, time: number): void {
    const left = Math.max(0, time - clock());
    const stop = startTimer(Math.min(left, MAX_TIMER_MS), () => {
      waiting.delete(key);
      // Not by the clock: one that is set back an hour would hold up every retry for that hour.
      if (left > MAX_TIMER_MS) arm(key, time);
      else queue.add(key);
    });
    waiting.set(key, { time, stop });
  }

  return {
    add: queue.add,
    arrange: queue.arrange,
    take: queue.take,
    done: queue.done,
    unfinished: queue.unfinished,
    get depth() {
      return queue.depth;
    },
    addAt: (key, time) => {
      const known = waiting.get(key);
      if (closed || (known !== undefined && known.time <= time)) return;
      cancel(key);
      arm(key, time);
    },
    cancel,
    shutDown: () => {
      closed = true;
      for (const key of [...waiting.keys()]) cancel(key);
      queue.shutDown();
    },
  };
}
