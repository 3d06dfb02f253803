// SPDX-License-Identifier: Apache-2.0
import type { Clock, Random } from '#base/ports.ts';
import { createFairQueue, type FlowAssignment } from './fair-queue.ts';
import { createFifo } from './fifo.ts';

/**
 * A work queue with the guarantees of client-go's `util/workqueue`.
 *
 * - Stingy: one worker at a time processes a key. A key that is added several times before a worker
 *   takes it is processed once. A key that is added while a worker processes it is queued again
 *   when that worker calls `done`.
 * - Fair: first in, first out. If `assignFlows` divides the keys into flows, the flows take turns.
 */
export interface Queue {
  /** Queues `key`, unless it waits already or the queue is shut down. */
  readonly add: (key: string) => void;
  /** Sets the function that assigns keys to flows from now on. By default all keys are one flow. */
  readonly assignFlows: (assign: (key: string) => FlowAssignment) => void;
  /**
   * Waits for the next key. Every worker that takes a key must call `done` with it.
   *
   * @returns the key, or undefined once the queue is shut down
   */
  readonly take: () => Promise<string | undefined>;
  /**
   * Takes a key whose first flow has no key in progress, in the order of the turns. Like `take`, it
   * must be followed by `done`.
   *
   * @returns undefined if none waits
   */
  readonly takeOfIdleFlow: () => string | undefined;
  /** Sets the one listener, which is called after a key was queued. */
  readonly onAdded: (listener: () => void) => void;
  /**
   * Charges a flow for milliseconds of work that blocked the process: its next turn comes later.
   */
  readonly charge: (distinguisher: string, milliseconds: number) => void;
  /** Ends the processing of `key`. */
  readonly done: (key: string) => void;
  /** Stops handing out keys. Waiting workers get undefined. */
  readonly shutDown: () => void;
  /** The number of keys that wait for a worker. */
  readonly depth: number;
  /** Returns how long workers have been processing their present keys. */
  readonly unfinished: () => UnfinishedWork;
}

/** Seconds of work in progress, as client-go's metrics count it. */
export interface UnfinishedWork {
  /** `workqueue_unfinished_work_seconds`: the sum over all keys in progress. */
  readonly total: number;
  /** `workqueue_longest_running_processor_seconds`: the key that takes longest. */
  readonly longest: number;
}

/** Receives the counts of client-go's `workqueue_*` metrics. */
export interface QueueMetrics {
  added(): void;
  depth(count: number): void;
  /** Seconds between `add` and `take`. */
  waited(seconds: number): void;
}

const NO_FLOWS: FlowAssignment = { distinguishers: [] };

/**
 * Creates an empty queue.
 *
 * @param clock - the local clock in milliseconds, used for metrics only
 * @param random - read once, to seed the hash of flows
 */
export function createQueue(clock: Clock, metrics: QueueMetrics, random: Random): Queue {
  return new WorkQueue(clock, metrics, random);
}

class WorkQueue implements Queue {
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics;
  readonly #waiting;
  readonly #takers = createFifo<(key: string | undefined) => void>();
  /** Keys to process (again), each with the time since when: client-go's `dirty`. */
  readonly #dirty = new Map<string, number>();
  /** Keys that a worker processes, each with the time since when, and its first flow. */
  readonly #processing = new Map<string, { readonly since: number; readonly flow: string }>();
  /** The number of keys in progress of each first flow. */
  readonly #busy = new Map<string, number>();
  #added: () => void = () => undefined;
  #assign: (key: string) => FlowAssignment = () => NO_FLOWS;
  #closed = false;

  constructor(clock: Clock, metrics: QueueMetrics, random: Random) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#waiting = createFairQueue<string>(random);
  }

  readonly assignFlows = (assign: (key: string) => FlowAssignment): void => {
    this.#assign = assign;
  };

  readonly add = (key: string): void => {
    if (this.#closed || this.#dirty.has(key)) return;
    this.#dirty.set(key, this.#clock());
    this.#metrics.added();
    if (!this.#processing.has(key)) this.#offer(key);
  };

  readonly take = (): Promise<string | undefined> => {
    if (this.#closed) return Promise.resolve(undefined);
    const key = this.#waiting.shift();
    if (key === undefined) return new Promise((resolve) => this.#takers.push(resolve));
    this.#metrics.depth(this.#waiting.length);
    return Promise.resolve(this.#start(key));
  };

  readonly takeOfIdleFlow = (): string | undefined => {
    if (this.#closed) return undefined;
    const key = this.#waiting.shiftOf((flow) => !this.#busy.has(flow));
    if (key === undefined) return undefined;
    this.#metrics.depth(this.#waiting.length);
    return this.#start(key);
  };

  readonly onAdded = (listener: () => void): void => {
    this.#added = listener;
  };

  readonly done = (key: string): void => {
    const { flow } = this.#processing.get(key) ?? {};
    if (flow !== undefined) this.#count(flow, -1);
    this.#processing.delete(key);
    if (!this.#closed && this.#dirty.has(key)) this.#offer(key);
  };

  readonly charge = (distinguisher: string, milliseconds: number): void => {
    this.#waiting.charge(distinguisher, milliseconds);
  };

  readonly shutDown = (): void => {
    this.#closed = true;
    const takers = this.#takers;
    for (let taker = takers.shift(); taker !== undefined; taker = takers.shift()) taker(undefined);
  };

  get depth(): number {
    return this.#waiting.length;
  }

  readonly unfinished = (): UnfinishedWork => {
    const now = this.#clock();
    const seconds = [...this.#processing.values()].map(({ since }) => (now - since) / 1000);
    return {
      total: seconds.reduce((sum, each) => sum + each, 0),
      longest: seconds.reduce((most, each) => Math.max(most, each), 0),
    };
  };

  /** Gives `key` to a waiting worker, or queues it. */
  #offer(key: string): void {
    const taker = this.#takers.shift();
    if (taker !== undefined) {
      taker(this.#start(key));
      return;
    }
    this.#waiting.push(key, this.#assign(key));
    this.#metrics.depth(this.#waiting.length);
    this.#added();
  }

  #count(flow: string, more: number): void {
    const now = (this.#busy.get(flow) ?? 0) + more;
    if (now === 0) this.#busy.delete(flow);
    else this.#busy.set(flow, now);
  }

  #start(key: string): string {
    const now = this.#clock();
    this.#metrics.waited((now - (this.#dirty.get(key) ?? now)) / 1000);
    this.#dirty.delete(key);
    const [flow = ''] = this.#assign(key).distinguishers;
    this.#processing.set(key, { since: now, flow });
    this.#count(flow, 1);
    return key;
  }
}
