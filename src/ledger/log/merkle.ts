// SPDX-License-Identifier: Apache-2.0
/** The Merkle tree of RFC 6962 §2.1 with SHA-256, and its proofs. */
import { hash } from 'node:crypto';
import { sameBytes } from '#base/bytes.ts';

/** Bytes of a hash of the tree. */
export const HASH_BYTES = 32;

const LEAF = Uint8Array.of(0);
/** Input buffers of the hashes, reused because a check of a ledger computes millions. */
const leaf = new Uint8Array(1 + HASH_BYTES);
const node = new Uint8Array(1 + 2 * HASH_BYTES);
node[0] = 1;

/** Returns the SHA-256 of `data`, 32 bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer');
}

/** Returns the hash of a leaf (RFC 6962 §2.1). */
export function leafHash(entry: Uint8Array): Uint8Array {
  if (entry.length !== HASH_BYTES) return sha256(Buffer.concat([LEAF, entry]));
  leaf.set(entry, 1);
  return sha256(leaf);
}

/** Returns the hash of the node above `left` and `right`. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return sha256(node);
}

/** Returns the root of a tree without entries (RFC 6962 §2.1). */
export function emptyRoot(): Uint8Array {
  return sha256(new Uint8Array());
}

/** Returns the largest power of two below `size`, which is at least 2 (k of RFC 6962 §2.1). */
export function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** A proof of inclusion. */
export interface Inclusion {
  readonly index: number;
  /** Size of the tree whose root is `root`. */
  readonly size: number;
  /** Hashes from the leaf's sibling to the root's child. */
  readonly path: readonly Uint8Array[];
  readonly root: Uint8Array;
}

/** Reports whether the tree holds `leaf` at the index (RFC 9162 §2.1.3.2). */
export function includes(leaf: Uint8Array, { index, size, path, root }: Inclusion): boolean {
  if (index >= size) return false;
  let [node, last, hashed] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hashed = nodeHash(sibling, hashed);
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hashed = nodeHash(hashed, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && sameBytes(hashed, root);
}

/** A tree by its size and root. */
export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** Reports whether the tree `newer` begins with the whole of `older` (RFC 9162 §2.1.4.2). */
export function isConsistent(
  older: TreeHead,
  newer: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (older.size > newer.size) return false;
  if (older.size === 0) return proof.length === 0 && sameBytes(older.root, emptyRoot());
  if (older.size === newer.size) return proof.length === 0 && sameBytes(older.root, newer.root);
  const isPowerOfTwo = splitOf(older.size + 1) === older.size;
  const [first, ...rest] = isPowerOfTwo ? [older.root, ...proof] : proof;
  return first !== undefined && climbs(first, rest, older, newer);
}

function climbs(
  first: Uint8Array,
  rest: readonly Uint8Array[],
  older: TreeHead,
  newer: TreeHead,
): boolean {
  let [node, last] = [older.size - 1, newer.size - 1];
  while (node % 2 === 1) [node, last] = [half(node), half(last)];
  let [inOlder, inNewer] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      inOlder = nodeHash(sibling, inOlder);
      inNewer = nodeHash(sibling, inNewer);
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      inNewer = nodeHash(inNewer, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && sameBytes(inOlder, older.root) && sameBytes(inNewer, newer.root);
}

/** Halves without a shift, because sizes exceed 32 bits. */
function half(value: number): number {
  return Math.floor(value / 2);
}
