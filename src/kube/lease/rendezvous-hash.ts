// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '#base/hash.ts';

/**
 * Assigns keys to `members` by rendezvous hashing (highest random weight, Thaler and Ravishankar,
 * 1998). Every member has a score for every key, and the highest score owns the key. Replicas that
 * know the same members agree without communication.
 *
 * A member that leaves gives up only its own keys, evenly to all others. One that joins takes its
 * share evenly from all.
 *
 * The scores are a protocol: while one version replaces another, replicas of both must agree. They
 * need not resist an attacker, because keys are UIDs, which the API server generates.
 *
 * @returns a function from a key to the name of its owner, or undefined if there are no members
 */
export function createRendezvousHash(
  members: readonly string[],
): (key: string) => string | undefined {
  // Sorted, so that equal scores have one winner on every replica.
  const seeded = [...new Set(members)].sort().map((name) => ({ name, seed: mix(fnv1a(name)) }));
  return (key) => {
    const hashed = fnv1a(key);
    let [owner, best]: [string | undefined, number] = [undefined, -1];
    for (const { name, seed } of seeded) {
      // Mixed twice: after one round, scores of two members with similar seeds would correlate.
      const score = mix((mix(hashed ^ seed) + seed) | 0);
      if (score > best) [owner, best] = [name, score];
    }
    return owner;
  };
}

/** Finalizes as MurmurHash3 does: every input bit changes half of the output bits. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
