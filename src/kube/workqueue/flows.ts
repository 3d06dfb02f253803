// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '#base/hash.ts';
import type { Random } from '#base/ports.ts';
import { createFifo } from './fifo.ts';

/** One item, queued in each of its flows. The first flow whose turn comes hands it out. */
export interface QueuedItem<T> {
  readonly item: T;
  readonly flows: readonly Flow<T>[];
  /** Milliseconds, or undefined if the item is not urgent. */
  readonly deadline: number | undefined;
  /** True once one of its flows, or the queue of deadlines, has handed it out. */
  taken: boolean;
}

/** A flow drops items that were handed out when it has this many more of them than of others. */
const MAX_STALE = 64;

/** The items that wait in one flow, first in, first out. */
export class Flow<T> {
  readonly distinguisher: string;
  /**
   * The virtual time of its next turn, in milliseconds of work. The fair queue owns this field and
   * the next two.
   */
  turn = 0;
  /** The order among flows of one time: the lowest goes first. */
  place = 0;
  /** The charges since its turn was set. */
  owed = 0;
  readonly #items = createFifo<QueuedItem<T>>();
  #waiting = 0;

  constructor(distinguisher: string) {
    this.distinguisher = distinguisher;
  }

  /** The number of waiting items. Items that another flow handed out do not count. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The number of entries in memory, handed out or not. */
  get held(): number {
    return this.#items.length;
  }

  push(item: QueuedItem<T>): void {
    this.#items.push(item);
    this.#waiting += 1;
  }

  /** Returns the first waiting item, or undefined if there is none. */
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
  /** Returns the flow in which to queue one more item. */
  of(distinguisher: string): Flow<T>;
  /** Returns the flow of this distinguisher alone, if items wait in it. */
  peek(distinguisher: string): Flow<T> | undefined;
  /** Drops an empty flow. */
  drop(flow: Flow<T>): void;
}

/**
 * The number of distinguishers with a flow of their own. It bounds the memory, and the number of
 * turns until a flow has its next one.
 */
export const MAX_FLOWS = 4_096;
/** Distinguishers beyond `MAX_FLOWS` share this many queues. */
const SHARED_FLOWS = 64;
/**
 * Each distinguisher chooses the shortest of this many queues, so a storm fills one and others
 * avoid it.
 */
const HAND_SIZE = 4;

/**
 * Shards as API Priority and Fairness does (shuffle sharding, KEP-1040), for the distinguishers
 * beyond `MAX_FLOWS`.
 *
 * @param random - seeds the hash, so that an attacker cannot choose a name that collides with a
 *   given other one
 */
export function createFlows<T>(random: Random): Flows<T> {
  const own = new Map<string, Flow<T>>();
  const shared = Array.from(
    { length: SHARED_FLOWS },
    (_each, index) => new Flow<T>(`shared ${index}`),
  );
  const seed = Buffer.from(random(4)).readUInt32LE();

  function sharedBy(hash: number): Flow<T> {
    // The remainder is the place of a flow.
    return shared[hash % SHARED_FLOWS] as Flow<T>;
  }

  function shortestInHand(distinguisher: string): Flow<T> {
    let hash = fnv1a(distinguisher, seed);
    let shortest = sharedBy(hash);
    for (let dealt = 1; dealt < HAND_SIZE; dealt += 1) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
      const other = sharedBy(hash);
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
