// SPDX-License-Identifier: Apache-2.0
/** Rebuilds a log's tree from its entries and compares every tile. */
import { sameBytes } from '#base/bytes.ts';
import { HASH_BYTES, leafHash } from '../log/merkle.ts';
import { ENTRIES_LEVEL, foldedHash, TILE_WIDTH, tilePath, type ReadTile } from '../log/tiles.ts';
import type { Findings } from './findings.ts';
import type { StoredLog } from './logs.ts';
import type { VerifySource } from './source.ts';

/** A tile of a log's entries, 32 bytes each. */
export interface EntriesTile {
  readonly first: number;
  /** Expected number of entries. `hashes` may have another number if the tile was altered. */
  readonly width: number;
  readonly hashes: Uint8Array;
}

/**
 * Adds a finding for each tile that does not match the entries. It keeps one hash for each 256
 * entries in memory.
 * @param visit - called with the entries in order as they are read, so that no other check reads
 * them again
 */
export async function verifyTiles(
  source: VerifySource,
  log: StoredLog,
  findings: Findings,
  visit: (entries: EntriesTile) => Promise<void>,
): Promise<void> {
  const read = source.tiles(log);
  const add = (message: string): void => findings.add('tile', log, message);
  let layer = await compareLeaves({ read, size: log.size, add, visit });
  let expected = 2 * tilesIn(log.size);
  for (let level = 1; layer.length > 0; level += 1) {
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

interface Leaves {
  readonly read: ReadTile;
  readonly size: number;
  readonly add: Add;
  readonly visit: (entries: EntriesTile) => Promise<void>;
}

/** Compares the tiles of leaf hashes with the entries. Returns the hashes of the level above. */
async function compareLeaves({ read, size, add, visit }: Leaves): Promise<Hashes> {
  const above = new Hashes(Math.floor(size / TILE_WIDTH));
  const leaves = new Uint8Array(TILE_WIDTH * HASH_BYTES);
  for (let tile = 0; tile < tilesIn(size); tile += 1) {
    const hashes = (await read(ENTRIES_LEVEL, tile)) ?? new Uint8Array();
    const first = tile * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, size - first);
    if (hashes.length !== width * HASH_BYTES)
      add(`${tilePath(ENTRIES_LEVEL, tile)} has ${hashes.length / HASH_BYTES} entries of ${width}`);
    // A missing entry gets the hash of nothing.
    for (let at = 0; at < width * HASH_BYTES; at += HASH_BYTES) {
      leaves.set(leafHash(hashes.subarray(at, at + HASH_BYTES)), at);
    }
    const expected = leaves.subarray(0, width * HASH_BYTES);
    await compareTile(read, { level: 0, tile, expected, above }, add);
    await visit({ first, width, hashes });
  }
  return above;
}

/**
 * Stores hashes of 32 bytes in one buffer. An array of objects would need several times as much
 * memory.
 */
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

/** Compares a level of tiles with the expected hashes. Returns those of the level above. */
async function compareLevel(
  read: ReadTile,
  { level, hashes }: { readonly level: number; readonly hashes: Hashes },
  add: Add,
): Promise<Hashes> {
  const above = new Hashes(Math.floor(hashes.length / TILE_WIDTH));
  for (let tile = 0; tile < tilesIn(hashes.length); tile += 1) {
    const expected = hashes.slice(tile * TILE_WIDTH, (tile + 1) * TILE_WIDTH);
    await compareTile(read, { level, tile, expected, above }, add);
  }
  return above;
}

interface ExpectedTile {
  readonly level: number;
  readonly tile: number;
  readonly expected: Uint8Array;
  /** Collects the hash of a full tile. */
  readonly above: Hashes;
}

async function compareTile(
  read: ReadTile,
  { level, tile, expected, above }: ExpectedTile,
  add: Add,
): Promise<void> {
  if (!sameBytes(await read(level, tile), expected))
    add(`${tilePath(level, tile)} is not the hash of what is below it`);
  if (expected.length === TILE_WIDTH * HASH_BYTES) above.push(foldedHash(expected));
}
