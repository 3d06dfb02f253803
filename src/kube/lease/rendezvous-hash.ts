// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '../../hash.ts';

/**
 * Who of `members` a key belongs to: rendezvous hashing (Thaler and Ravishankar, 1998). Every member
 * scores every key, the highest has it. Whoever knows the same members agrees without talking; one
 * that leaves gives up its own keys only, to all others alike, and one that joins takes its part
 * from all alike.
 *
 * The scores are a protocol: while one version replaces another, replicas of both must agree. They
 * need not withstand an attacker: keys are UIDs, which the API server draws.
 *
 * @returns undefined where there are no members
 */
export function createRendezvousHash(
  members: readonly string[],
): (key: string) => string | undefined {
  // In one order everywhere, so that equal scores have one winner.
  const seeded = [...new Set(members)].sort().map((name) => ({ name, seed: mix(fnv1a(name)) }));
  return (key) => {
    const hashed = fnv1a(key);
    let [owner, best]: [string | undefined, number] = [undefined, -1];
    for (const { name, seed } of seeded) {
      // Twice: of one round alone, scores of two members whose seeds are close would be alike.
      const score = mix((mix(hashed ^ seed) + seed) | 0);
      if (score > best) [owner, best] = [name, score];
    }
    return owner;
  };
}

/** MurmurHash3's finalizer: each bit in changes half of the bits out. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
