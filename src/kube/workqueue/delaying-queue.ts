// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';
import { createHeap } from './heap.ts';
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

interface Later {
  readonly key: string;
  /** By {@link createForwardClock}. */
  readonly due: number;
}

/** What was cancelled is cleared away once there is so much more of it than of what waits. */
const CLEAR_AT = 64;

/** One timer for all: a hundred thousand keys may wait, and a timer of its own costs more than a key. */
export function createDelayingQueue(
  queue: Queue,
  clock: Clock,
  startTimer: StartTimer,
): DelayingQueue {
  const waiting = new Map<string, Later>();
  const heap = createHeap<Later>((a, b) => a.due < b.due);
  const time = createForwardClock(clock);
  let timer: { readonly due: number; readonly stop: () => void } | undefined;
  let closed = false;

  const waits = (later: Later): boolean => waiting.get(later.key) === later;

  function clear(): void {
    if (heap.length > 2 * waiting.size + CLEAR_AT) heap.retain(waits);
  }

  function earliest(): Later | undefined {
    let first = heap.peek();
    while (first !== undefined && !waits(first)) {
      heap.shift();
      first = heap.peek();
    }
    return first;
  }

  /** Sees to it that a timer fires when the first is due, or earlier. */
  function arm(): void {
    const first = earliest();
    if (first === undefined || (timer !== undefined && timer.due <= first.due)) return;
    timer?.stop();
    const now = time.now();
    const wait = Math.min(Math.max(0, first.due - now), MAX_TIMER_MS);
    const stop = startTimer(wait, () => {
      timer = undefined;
      time.passed(now + wait);
      release();
    });
    timer = { due: now + wait, stop };
  }

  function release(): void {
    const now = time.now();
    for (let first = earliest(); first !== undefined && first.due <= now; first = earliest()) {
      heap.shift();
      waiting.delete(first.key);
      queue.add(first.key);
    }
    arm();
  }

  return {
    add: queue.add,
    assignFlows: queue.assignFlows,
    take: queue.take,
    done: queue.done,
    unfinished: queue.unfinished,
    get depth() {
      return queue.depth;
    },
    addAt: (key, at) => {
      const later = { key, due: time.now() + at - clock() };
      const known = waiting.get(key);
      if (closed || (known !== undefined && known.due <= later.due)) return;
      waiting.set(key, later);
      heap.push(later);
      clear();
      arm();
    },
    cancel: (key) => {
      if (waiting.delete(key)) clear();
    },
    shutDown: () => {
      closed = true;
      waiting.clear();
      timer?.stop();
      queue.shutDown();
    },
  };
}

/** A clock that does not go back: one that is set back an hour would hold up every retry for it. */
function createForwardClock(clock: Clock): { now: () => number; passed: (time: number) => void } {
  let ahead = 0;
  let last = clock();
  const passed = (time: number): void => {
    last = Math.max(last, time);
    ahead = Math.max(ahead, last - clock());
  };
  return {
    passed,
    now: () => {
      passed(clock() + ahead);
      return last;
    },
  };
}
