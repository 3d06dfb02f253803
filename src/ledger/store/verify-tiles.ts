// SPDX-License-Identifier: Apache-2.0
/** Builds a log's tree anew from its entries and compares every tile. */
import { sameBytes } from '../../bytes.ts';
import { HASH_BYTES, leafHash } from '../log/merkle.ts';
import { ENTRIES_LEVEL, foldedHash, TILE_WIDTH, tilePath, type ReadTile } from '../log/tiles.ts';
import type { Findings } from './findings.ts';
import type { StoredLog } from './logs.ts';
import type { VerifySource } from './source.ts';

/** Adds a finding for each tile that is not what the entries make it. */
export async function verifyTiles(
  source: VerifySource,
  log: StoredLog,
  findings: Findings,
): Promise<void> {
  const read = source.tiles(log);
  const add = (message: string): void => findings.add('tile', log, message);
  let layer = await leavesOf(read, log.size, add);
  let expected = tilesIn(log.size);
  for (let level = 0; layer.length > 0; level += 1) {
    expected += tilesIn(layer.length);
    layer = await compareLevel(read, { level, hashes: layer }, add);
  }
  const stored = await source.tileCount(log);
  if (stored !== undefined && stored !== expected)
    add(`there are ${stored} tiles, and its size makes ${expected}`);
}

function tilesIn(hashes: number): number {
  return Math.ceil(hashes / TILE_WIDTH);
}

type Add = (message: string) => void;

/** Leaf hashes of all entries; an entry that is not there has a hash of nothing. */
async function leavesOf(read: ReadTile, size: number, add: Add): Promise<Hashes> {
  const leaves = new Hashes(size);
  for (let tile = 0; tile < tilesIn(size); tile += 1) {
    const entries = (await read(ENTRIES_LEVEL, tile)) ?? new Uint8Array();
    const width = Math.min(TILE_WIDTH, size - tile * TILE_WIDTH);
    if (entries.length !== width * HASH_BYTES) {
      add(
        `${tilePath(ENTRIES_LEVEL, tile)} has ${entries.length / HASH_BYTES} entries of ${width}`,
      );
    }
    for (let at = 0; at < width; at += 1) {
      leaves.push(leafHash(entries.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)));
    }
  }
  return leaves;
}

/** Hashes of 32 bytes, one after the other: an array of ten million objects would not fit into a pod. */
class Hashes {
  readonly #bytes: Buffer;
  length = 0;

  constructor(most: number) {
    this.#bytes = Buffer.alloc(most * HASH_BYTES);
  }

  push(hash: Uint8Array): void {
    this.#bytes.set(hash, this.length * HASH_BYTES);
    this.length += 1;
  }

  slice(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(from * HASH_BYTES, Math.min(to, this.length) * HASH_BYTES);
  }
}

/** Compares a level of tiles with the hashes that belong there. Returns those of the level above. */
async function compareLevel(
  read: ReadTile,
  { level, hashes }: { readonly level: number; readonly hashes: Hashes },
  add: Add,
): Promise<Hashes> {
  const above = new Hashes(Math.floor(hashes.length / TILE_WIDTH));
  for (let tile = 0; tile < tilesIn(hashes.length); tile += 1) {
    const expected = hashes.slice(tile * TILE_WIDTH, (tile + 1) * TILE_WIDTH);
    if (!sameBytes(await read(level, tile), expected)) {
      add(`${tilePath(level, tile)} is not the hash of what is below it`);
    }
    if (expected.length === TILE_WIDTH * HASH_BYTES) above.push(foldedHash(expected));
  }
  return above;
}
