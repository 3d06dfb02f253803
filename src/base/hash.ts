// SPDX-License-Identifier: Apache-2.0

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Returns FNV-1a of 32 bits (RFC 9923) over the UTF-16 code units of `text`, which are its octets
 * if it is ASCII.
 *
 * Fast and evenly distributed, but not collision-resistant: use it to distribute keys, never to
 * identify them.
 *
 * @param seed - is XORed into the offset basis. With a secret one an attacker cannot choose keys
 *   that collide
 * @returns an unsigned integer of 32 bits
 */
export function fnv1a(text: string, seed = 0): number {
  let hash = OFFSET_BASIS ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  }
  return hash >>> 0;
}
