// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '../../hash.ts';
import type { Random } from '../../ports.ts';
import { createFifo } from './fifo.ts';

/** One item, queued in each of its flows. The first flow whose turn comes hands it out. */
export interface QueuedItem<T> {
  readonly item: T;
  readonly flows: readonly Flow<T>[];
  /** In milliseconds; undefined if the item is not urgent. */
  readonly deadline: number | undefined;
  /** True once one of its flows, or the queue of deadlines, has handed it out. */
  taken: boolean;
}

/** A flow drops items that were handed out when this many more of them than of others are in it. */
const MAX_STALE = 64;

/** The items that wait in one flow, first in, first out. */
export class Flow<T> {
  readonly distinguisher: string;
  /** The virtual time of its next turn, in milliseconds of work. Owned by the fair queue, as the next two. */
  turn = 0;
  /** Among flows of one time, the lowest goes first. */
  place = 0;
  /** What it was charged since its turn was set. */
  owed = 0;
  readonly #items = createFifo<QueuedItem<T>>();
  #waiting = 0;

  constructor(distinguisher: string) {
    this.distinguisher = distinguisher;
  }

  /** How many items wait; items that another flow handed out do not count. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How many entries are in memory, handed out or not. */
  get held(): number {
    return this.#items.length;
  }

  push(item: QueuedItem<T>): void {
    this.#items.push(item);
    this.#waiting += 1;
  }

  /** The first item that waits; undefined if none does. */
  first(): QueuedItem<T> | undefined {
    let item = this.#items.peek();
    while (item?.taken === true) {
      this.#items.shift();
      item = this.#items.peek();
    }
    return item;
  }

  /** Records that one of its items was handed out, by this flow or by another. */
  onTaken(): void {
    this.#waiting -= 1;
    if (this.#items.length > 2 * this.#waiting + MAX_STALE) {
      this.#items.retain(({ taken }) => !taken);
    }
  }
}

/** The flows in which items wait, by flow distinguisher. Their number is bounded. */
export interface Flows<T> {
  /** The flow in which to queue one more item. */
  of(distinguisher: string): Flow<T>;
  /** The flow of this distinguisher alone, if items wait in it. */
  peek(distinguisher: string): Flow<T> | undefined;
  /** Drops an empty flow. */
  drop(flow: Flow<T>): void;
}

/**
 * This many distinguishers with pending items have a flow of their own. The limit bounds the memory,
 * and the number of turns until a flow has its next one.
 */
const MAX_FLOWS = 4_096;
/** Distinguishers beyond `MAX_FLOWS` share this many queues. */
const SHARED_FLOWS = 64;
/** Each chooses the shortest of this many queues, so a storm fills one and others avoid it. */
const HAND_SIZE = 4;

/**
 * Shuffle sharding as in API Priority and Fairness (KEP-1040), for the distinguishers beyond
 * `MAX_FLOWS`.
 *
 * @param random - seeds the hash, so that an attacker cannot choose a name that collides with a given other one
 */
export function createFlows<T>(random: Random): Flows<T> {
  const own = new Map<string, Flow<T>>();
  const shared = Array.from(
    { length: SHARED_FLOWS },
    (_each, index) => new Flow<T>(`shared ${index}`),
  );
  const seed = Buffer.from(random(4)).readUInt32LE();

  function shortestInHand(distinguisher: string): Flow<T> {
    let hash = fnv1a(distinguisher, seed);
    let shortest = shared[hash % SHARED_FLOWS] as Flow<T>;
    for (let dealt = 1; dealt < HAND_SIZE; dealt += 1) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
      const other = shared[hash % SHARED_FLOWS] as Flow<T>;
      if (other.waiting < shortest.waiting) shortest = other;
    }
    return shortest;
  }

  return {
    of: (distinguisher) => {
      const known = own.get(distinguisher);
      if (known !== undefined) return known;
      if (own.size >= MAX_FLOWS) return shortestInHand(distinguisher);
      const flow = new Flow<T>(distinguisher);
      own.set(distinguisher, flow);
      return flow;
    },
    peek: (distinguisher) => own.get(distinguisher),
    drop: (flow) => {
      if (own.get(flow.distinguisher) === flow) own.delete(flow.distinguisher);
    },
  };
}
