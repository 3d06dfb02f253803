// SPDX-License-Identifier: Apache-2.0
import type { Clock, Random } from '../../ports.ts';
import { createFairQueue, type FlowAssignment } from './fair-queue.ts';
import { createFifo } from './fifo.ts';

/**
 * client-go's workqueue. Stingy: a key is worked on by one worker at a time, and a key added several
 * times before that is worked on once. A key added while it is worked on comes back when that is
 * done. Fair: in the order of adding, except that flows take turns where `arrange` says that there
 * are several.
 */
export interface Queue {
  readonly add: (key: string) => void;
  /** Whoever owns the keys says where each belongs, from now on; without, all are of one flow. */
  readonly assignFlows: (placeOf: (key: string) => FlowAssignment) => void;
  /** The next key; undefined once the queue is shut down. Whoever takes a key must call `done`. */
  readonly take: () => Promise<string | undefined>;
  readonly done: (key: string) => void;
  /** No key is handed out any more; waiting takers get undefined. */
  readonly shutDown: () => void;
  /** Keys that wait for a worker. */
  readonly depth: number;
  /** How long the keys that are worked on now have been at it. */
  readonly unfinished: () => Unfinished;
}

/** Seconds of work in progress: of all keys together, and of the one that takes longest. */
export interface Unfinished {
  readonly total: number;
  readonly longest: number;
}

/** What a queue counts. */
export interface QueueMetrics {
  added(): void;
  depth(count: number): void;
  /** Seconds between add and take. */
  waited(seconds: number): void;
}

const NOWHERE: FlowAssignment = { distinguishers: [] };

/** @param random - asked once, for the salt of flows */
export function createQueue(clock: Clock, metrics: QueueMetrics, random: Random): Queue {
  const waiting = createFairQueue<string>(random);
  const takers = createFifo<(key: string | undefined) => void>();
  /** Keys to be worked on (again), and since when; client-go calls them dirty. */
  const dirty = new Map<string, number>();
  /** Keys that are worked on, and since when. */
  const processing = new Map<string, number>();
  let placeOf: (key: string) => FlowAssignment = () => NOWHERE;
  let closed = false;

  function offer(key: string): void {
    const taker = takers.shift();
    if (taker !== undefined) {
      taker(begin(key));
      return;
    }
    waiting.push(key, placeOf(key));
    metrics.depth(waiting.length);
  }

  function begin(key: string): string {
    const now = clock();
    metrics.waited((now - (dirty.get(key) ?? now)) / 1000);
    dirty.delete(key);
    processing.set(key, now);
    return key;
  }

  function take(): Promise<string | undefined> {
    if (closed) return Promise.resolve(undefined);
    const key = waiting.shift();
    if (key === undefined) return new Promise((resolve) => takers.push(resolve));
    metrics.depth(waiting.length);
    return Promise.resolve(begin(key));
  }

  return {
    assignFlows: (by) => {
      placeOf = by;
    },
    add: (key) => {
      if (closed || dirty.has(key)) return;
      dirty.set(key, clock());
      metrics.added();
      if (!processing.has(key)) offer(key);
    },
    take,
    done: (key) => {
      processing.delete(key);
      if (!closed && dirty.has(key)) offer(key);
    },
    shutDown: () => {
      closed = true;
      for (let taker = takers.shift(); taker !== undefined; taker = takers.shift()) {
        taker(undefined);
      }
    },
    get depth() {
      return waiting.length;
    },
    unfinished: () => {
      const now = clock();
      const seconds = [...processing.values()].map((since) => (now - since) / 1000);
      return {
        total: seconds.reduce((sum, each) => sum + each, 0),
        longest: seconds.reduce((most, each) => Math.max(most, each), 0),
      };
    },
  };
}
