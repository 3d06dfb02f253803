// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '../../hash.ts';
import type { Random } from '../../ports.ts';
import { createFifo } from './fifo.ts';

/** The flows in which something waits, by name; a bounded number of them. */
export interface Flows<T> {
  /** The flow for one more entry of that name. */
  of(name: string): Flow<T>;
  /** It is empty: forgotten, until the next entry of its name. */
  drop(flow: Flow<T>): void;
  readonly size: number;
}

/**
 * So many namespaces and nodes with something pending at one moment have a flow of their own. It
 * bounds the memory, and how long anybody's turn can be away.
 */
export const MAX_FLOWS = 4_096;
/** Those beyond share so many, as in API priority and fairness. */
export const SHARED_FLOWS = 64;
/** Each has the choice among so many of them: a storm fills one, and others find one beside it. */
const HAND = 4;

export function createFlows<T>(random: Random): Flows<T> {
  const own = new Map<string, Flow<T>>();
  const shared = Array.from({ length: SHARED_FLOWS }, (_each, index) =>
    createFlow<T>(`shared ${index}`),
  );
  // Unknown outside: nobody can choose a name that shares with a certain other one.
  const seed = Buffer.from(random(4)).readUInt32LE();

  function leastOf(name: string): Flow<T> {
    let hash = fnv1a(name, seed);
    let best = shared[hash % SHARED_FLOWS] as Flow<T>;
    for (let dealt = 1; dealt < HAND; dealt += 1) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
      const other = shared[hash % SHARED_FLOWS] as Flow<T>;
      if (other.waiting < best.waiting) best = other;
    }
    return best;
  }

  return {
    of: (name) => {
      const known = own.get(name);
      if (known !== undefined) return known;
      if (own.size >= MAX_FLOWS) return leastOf(name);
      const flow = createFlow<T>(name);
      own.set(name, flow);
      return flow;
    },
    drop: (flow) => {
      if (own.get(flow.name) === flow) own.delete(flow.name);
    },
    get size() {
      return own.size;
    },
  };
}

/** One item in every flow that it is of; whichever has its turn first hands it out. */
export interface Entry<T> {
  readonly item: T;
  readonly flows: readonly Flow<T>[];
  /** Milliseconds; undefined: it is not urgent. */
  readonly deadline: number | undefined;
  taken: boolean;
}

/** What waits in one line, first in, first out. */
export interface Flow<T> {
  readonly name: string;
  /** How many wait; those that another flow handed out count no more. */
  readonly waiting: number;
  /** How many it holds, handed out or not. */
  readonly held: number;
  push(entry: Entry<T>): void;
  /** The first that waits; undefined when none does. */
  first(): Entry<T> | undefined;
  /** One of its entries was handed out, by this flow or by another. */
  left(): void;
}

/** Handed-out entries are cleared away once there are so many more of them than of others. */
const CLEAR_AT = 64;

export function createFlow<T>(name: string): Flow<T> {
  const line = createFifo<Entry<T>>();
  let waiting = 0;

  function first(): Entry<T> | undefined {
    let entry = line.peek();
    while (entry?.taken === true) {
      line.shift();
      entry = line.peek();
    }
    return entry;
  }

  return {
    name,
    get waiting() {
      return waiting;
    },
    get held() {
      return line.length;
    },
    push: (entry) => {
      line.push(entry);
      waiting += 1;
    },
    first,
    left: () => {
      waiting -= 1;
      if (line.length > 2 * waiting + CLEAR_AT) line.retain(({ taken }) => !taken);
    },
  };
}
