// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '#base/ports.ts';
import { createHeap } from './heap.ts';
import type { Queue } from './queue.ts';

/** A queue to which a key can also be added at a later time: client-go's `DelayingInterface`. */
export interface DelayingQueue extends Queue {
  /**
   * Adds `key` at `time`, in milliseconds of the local clock, or at once if that time has passed.
   * If several times are set for one key, the earliest applies.
   */
  readonly addAt: (key: string, time: number) => void;
  /** Discards the time that is set for `key`, if any. */
  readonly cancel: (key: string) => void;
}

/** `setTimeout` overflows at 2³¹ ms and then fires at once. Longer delays take several timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs `action` after `ms`. The result cancels it. `app` passes `setTimeout` in. */
export type StartTimer = (ms: number, action: () => void) => () => void;

interface DelayedKey {
  readonly key: string;
  /** Milliseconds of the {@link ForwardClock}. */
  readonly due: number;
}

/** The heap drops cancelled entries when it has this many more of them than of live ones. */
const MAX_STALE = 64;

/**
 * Adds delays to `queue`. One timer serves all keys: 100,000 keys may wait, and a timer each would
 * cost more memory than the keys.
 *
 * @param clock - the local clock, in milliseconds. A clock that is set back does not prolong a
 *   delay.
 */
export function createDelayingQueue(
  queue: Queue,
  clock: Clock,
  startTimer: StartTimer,
): DelayingQueue {
  const delays = new Delays({ clock, startTimer, onDue: queue.add });
  return {
    add: queue.add,
    assignFlows: queue.assignFlows,
    take: queue.take,
    takeOfIdleFlow: queue.takeOfIdleFlow,
    onAdded: queue.onAdded,
    done: queue.done,
    charge: queue.charge,
    unfinished: queue.unfinished,
    get depth() {
      return queue.depth;
    },
    addAt: (key, time) => delays.set(key, time - clock()),
    cancel: (key) => delays.cancel(key),
    shutDown: () => {
      delays.close();
      queue.shutDown();
    },
  };
}

/** Keys, each with its due time. */
class Delays {
  readonly #waiting = new Map<string, DelayedKey>();
  readonly #heap = createHeap<DelayedKey>((a, b) => a.due < b.due);
  readonly #time: ForwardClock;
  readonly #startTimer: StartTimer;
  readonly #onDue: (key: string) => void;
  #timer: { readonly due: number; readonly stop: () => void } | undefined;
  #closed = false;

  constructor(init: {
    readonly clock: Clock;
    readonly startTimer: StartTimer;
    readonly onDue: (key: string) => void;
  }) {
    this.#time = new ForwardClock(init.clock);
    this.#startTimer = init.startTimer;
    this.#onDue = init.onDue;
  }

  set(key: string, delay: number): void {
    const delayed = { key, due: this.#time.now() + delay };
    const known = this.#waiting.get(key);
    if (this.#closed || (known !== undefined && known.due <= delayed.due)) return;
    this.#waiting.set(key, delayed);
    this.#heap.push(delayed);
    this.#compact();
    this.#arm();
  }

  cancel(key: string): void {
    if (this.#waiting.delete(key)) this.#compact();
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    this.#timer?.stop();
  }

  readonly #isLive = (delayed: DelayedKey): boolean => this.#waiting.get(delayed.key) === delayed;

  #compact(): void {
    if (this.#heap.length > 2 * this.#waiting.size + MAX_STALE) this.#heap.retain(this.#isLive);
  }

  #earliest(): DelayedKey | undefined {
    let first = this.#heap.peek();
    while (first !== undefined && !this.#isLive(first)) {
      this.#heap.shift();
      first = this.#heap.peek();
    }
    return first;
  }

  /** Ensures that a timer fires no later than the earliest key is due. */
  #arm(): void {
    const first = this.#earliest();
    if (first === undefined || (this.#timer !== undefined && this.#timer.due <= first.due)) return;
    this.#timer?.stop();
    const now = this.#time.now();
    const wait = Math.min(Math.max(0, first.due - now), MAX_TIMER_MS);
    const stop = this.#startTimer(wait, () => {
      this.#timer = undefined;
      this.#time.advanceTo(now + wait);
      this.#release();
    });
    this.#timer = { due: now + wait, stop };
  }

  #release(): void {
    const now = this.#time.now();
    let first = this.#earliest();
    for (; first !== undefined && first.due <= now; first = this.#earliest()) {
      this.#heap.shift();
      this.#waiting.delete(first.key);
      this.#onDue(first.key);
    }
    this.#arm();
  }
}

/**
 * A clock that never goes back. A clock that is set back an hour would otherwise delay every retry
 * by it.
 */
class ForwardClock {
  readonly #clock: Clock;
  #ahead = 0;
  #last: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#last = clock();
  }

  now(): number {
    this.advanceTo(this.#clock() + this.#ahead);
    return this.#last;
  }

  /** Records that `time` has been reached, whatever the clock shows. */
  advanceTo(time: number): void {
    this.#last = Math.max(this.#last, time);
    this.#ahead = Math.max(this.#ahead, this.#last - this.#clock());
  }
}
