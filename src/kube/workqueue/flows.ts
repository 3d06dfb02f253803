// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '../../hash.ts';
import type { Random } from '../../ports.ts';
import { createFlow, type Flow } from './flow.ts';

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
