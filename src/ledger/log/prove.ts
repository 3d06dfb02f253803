// SPDX-License-Identifier: Apache-2.0
/** Proofs from tiles (RFC 6962 §2.1.1 and §2.1.2), and the text of a proof (C2SP tlog-proof). */
import { splitOf } from './merkle.ts';
import { rangeHash, type ReadTile } from './tiles.ts';

/** Returns the hashes between the leaf at `index` and the root of the tree of `size` entries. */
export async function inclusionPath(
  read: ReadTile,
  index: number,
  size: number,
): Promise<readonly Uint8Array[]> {
  const path: Uint8Array[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      path.unshift(await rangeHash(read, middle, end));
      end = middle;
    } else {
      path.unshift(await rangeHash(read, start, middle));
      start = middle;
    }
  }
  return path;
}

/**
 * Returns the hashes that show that the tree of `newer` entries begins with the tree of `older`
 * entries.
 */
export async function consistencyPath(
  read: ReadTile,
  older: number,
  newer: number,
): Promise<readonly Uint8Array[]> {
  if (older === 0 || older === newer) return [];
  const path: Uint8Array[] = [];
  let [start, end] = [0, newer];
  while (older !== end) {
    const middle = start + splitOf(end - start);
    if (older <= middle) {
      path.unshift(await rangeHash(read, middle, end));
      end = middle;
    } else {
      path.unshift(await rangeHash(read, start, middle));
      start = middle;
    }
  }
  return start === 0 ? path : [await rangeHash(read, start, end), ...path];
}

/** Contents of a proof that a verifier outside the installation can check. */
export interface ProofText {
  /** Salt and record, whose SHA-256 is the entry. Absent if the ledger removed them. */
  readonly extra?: Uint8Array;
  readonly index: number;
  readonly path: readonly Uint8Array[];
  /** The signed note of the tree's head. */
  readonly checkpoint: string;
}

/** Formats the proof as text (C2SP tlog-proof). */
export function formatProof({ extra, index, path, checkpoint }: ProofText): string {
  const lines = [
    'c2sp.org/tlog-proof@v1',
    ...(extra === undefined ? [] : [`extra ${Buffer.from(extra).toString('base64')}`]),
    `index ${index}`,
    ...path.map((hash) => Buffer.from(hash).toString('base64')),
  ];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}
