// SPDX-License-Identifier: Apache-2.0
/**
 * Tiles, which hold the hashes of a tree (C2SP tlog-tiles). A tile of level 0 holds 256 leaf
 * hashes. A tile of a higher level holds 256 hashes of full tiles below it. The last tile of a
 * level may be partial.
 */
import { SignerError } from '#base/errors.ts';
import { HASH_BYTES, emptyRoot, leafHash, nodeHash, splitOf } from './merkle.ts';

/** Hashes in a full tile. */
export const TILE_WIDTH = 256;
/** Levels of the tree between one level of tiles and the next. */
const TILE_HEIGHT = 8;

/** The level of the entries themselves, 32 bytes each. */
export const ENTRIES_LEVEL = -1;

/** One tile, whole or partial. */
export interface Tile {
  /** {@link ENTRIES_LEVEL}, or 0 and more. */
  readonly level: number;
  readonly index: number;
  /** Hashes of 32 bytes, one after the other. */
  readonly hashes: Uint8Array;
}

/** Reads a tile as far as it is filled, or returns undefined if there is none. */
export type ReadTile = (level: number, index: number) => Promise<Uint8Array | undefined>;

/**
 * Returns the tiles that change when `entries` are appended to a tree of `size` entries, from the
 * entries up.
 * @param entries - 32 bytes each
 * @throws SignerError LEDGER_INCONSISTENT if the tiles of the tree do not match `size`
 */
export async function grownTiles(
  read: ReadTile,
  size: number,
  entries: readonly Uint8Array[],
): Promise<readonly Tile[]> {
  const changed = await filled(read, { level: ENTRIES_LEVEL, from: size, hashes: entries });
  let layer: Layer = { level: 0, from: size, hashes: entries.map(leafHash) };
  while (layer.hashes.length > 0) {
    const tiles = await filled(read, layer);
    changed.push(...tiles);
    const whole = tiles.filter(({ hashes }) => hashes.length === TILE_WIDTH * HASH_BYTES);
    layer = {
      level: layer.level + 1,
      from: Math.floor(layer.from / TILE_WIDTH),
      hashes: whole.map(({ hashes }) => foldedHash(hashes)),
    };
  }
  return changed;
}

interface Layer {
  readonly level: number;
  /** Number of hashes that precede these on the level. */
  readonly from: number;
  readonly hashes: readonly Uint8Array[];
}

async function filled(read: ReadTile, { level, from, hashes }: Layer): Promise<Tile[]> {
  const tiles: Tile[] = [];
  for (let done = 0; done < hashes.length;) {
    const at = from + done;
    const before = at % TILE_WIDTH;
    const index = Math.floor(at / TILE_WIDTH);
    const known = before === 0 ? new Uint8Array() : await readExactly(read, [level, index], before);
    const added = hashes.slice(done, done + TILE_WIDTH - before);
    tiles.push({ level, index, hashes: Buffer.concat([known, ...added]) });
    done += added.length;
  }
  return tiles;
}

async function readExactly(
  read: ReadTile,
  [level, index]: readonly [number, number],
  width: number,
): Promise<Uint8Array> {
  const hashes = await read(level, index);
  if (hashes?.length === width * HASH_BYTES) return hashes;
  throw inconsistent(
    `tile ${tilePath(level, index)} has ${(hashes?.length ?? 0) / HASH_BYTES} hashes instead of ${width}`,
  );
}

/**
 * Returns MTH(D[start:end]) of RFC 6962 §2.1. `start` is a multiple of the power of two that holds
 * `end - start`.
 */
export async function rangeHash(read: ReadTile, start: number, end: number): Promise<Uint8Array> {
  const size = end - start;
  if (size === 0) return emptyRoot();
  const split = splitOf(size + 1);
  if (split === size) return subtreeHash(read, Math.log2(size), start / size);
  const [left, right] = [
    await rangeHash(read, start, start + split),
    await rangeHash(read, start + split, end),
  ];
  return nodeHash(left, right);
}

async function subtreeHash(read: ReadTile, height: number, at: number): Promise<Uint8Array> {
  const level = Math.floor(height / TILE_HEIGHT);
  const width = 2 ** (height % TILE_HEIGHT);
  const first = at * width;
  const index = Math.floor(first / TILE_WIDTH);
  const from = (first % TILE_WIDTH) * HASH_BYTES;
  const hashes = (await read(level, index))?.subarray(from, from + width * HASH_BYTES);
  if (hashes?.length === width * HASH_BYTES) return foldedHash(hashes);
  throw inconsistent(`tile ${tilePath(level, index)} does not reach to hash ${first + width - 1}`);
}

/** Returns the root above `hashes`, whose count is a power of two. */
export function foldedHash(hashes: Uint8Array): Uint8Array {
  let row: Uint8Array[] = [];
  for (let at = 0; at < hashes.length; at += HASH_BYTES) {
    row.push(hashes.subarray(at, at + HASH_BYTES));
  }
  while (row.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at + 1 < row.length; at += 2) {
      above.push(nodeHash(row[at] ?? emptyRoot(), row[at + 1] ?? emptyRoot()));
    }
    row = above;
  }
  return row[0] ?? emptyRoot();
}

/**
 * Returns the path below a log's prefix: `tile/0/x001/234`, `tile/entries/000.p/17`.
 * @param width - hashes of a partial tile. The path of a full tile omits it.
 */
export function tilePath(level: number, index: number, width = TILE_WIDTH): string {
  const parts = [String(index % 1000).padStart(3, '0')];
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    parts.unshift(`x${String(rest % 1000).padStart(3, '0')}`);
  }
  const name = level === ENTRIES_LEVEL ? 'entries' : String(level);
  return `tile/${name}/${parts.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/**
 * Returns the number of hashes of a tile in a tree of `size` entries, or 0 if there is no such
 * tile.
 */
export function widthOf(size: number, level: number, index: number): number {
  const hashes = level === ENTRIES_LEVEL ? size : Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH));
}

/** The tile that a path of tlog-tiles names. */
export interface TileRequest {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

const TILE_PATH = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;
const LAST_LEVEL = 63;

/** Parses a path as {@link tilePath} writes it. Returns undefined for any other spelling. */
export function parseTilePath(path: string): TileRequest | undefined {
  const [, name = '', digits = '', width = String(TILE_WIDTH)] = TILE_PATH.exec(path) ?? [];
  const level = name === 'entries' ? ENTRIES_LEVEL : Number(name);
  const request = { level, index: Number(digits.replace(/[x/]/g, '')), width: Number(width) };
  if (name === '' || level > LAST_LEVEL || request.width > TILE_WIDTH) return undefined;
  return tilePath(level, request.index, request.width) === path ? request : undefined;
}

/**
 * Encodes a tile for serving. Each entry follows its length (uint16, big-endian); hashes stay as
 * they are.
 */
export function servedTile(level: number, hashes: Uint8Array): Uint8Array {
  if (level !== ENTRIES_LEVEL) return hashes;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(HASH_BYTES);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < hashes.length; at += HASH_BYTES) {
    parts.push(length, hashes.subarray(at, at + HASH_BYTES));
  }
  return Buffer.concat(parts);
}

/**
 * Returns the hashes of bytes that {@link servedTile} wrote, or undefined for a malformed bundle of
 * entries.
 */
export function hashesServed(level: number, bytes: Uint8Array): Uint8Array | undefined {
  if (level !== ENTRIES_LEVEL) return bytes;
  const each = HASH_BYTES + 2;
  const parts = Array.from({ length: Math.ceil(bytes.length / each) }, (_, at) =>
    bytes.subarray(at * each + 2, (at + 1) * each),
  );
  const hashes = Buffer.concat(parts);
  return Buffer.compare(servedTile(level, hashes), bytes) === 0 ? hashes : undefined;
}

/** Returns the error for stored data of a ledger that contradicts itself. */
export function inconsistent(fault: string): SignerError {
  const message = `the log of the ledger contradicts itself: ${fault}. It was changed, or an older copy was restored: nothing is appended until an administrator has compared it with a backup`;
  return new SignerError({ code: 'LEDGER_INCONSISTENT', disposition: 'wait', message });
}
