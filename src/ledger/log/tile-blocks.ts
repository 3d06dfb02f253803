// SPDX-License-Identifier: Apache-2.0
/**
 * Reads tiles in blocks. A check walks a tree from left to right, and each read may be a round
 * trip.
 */
import type { ReadTile } from './tiles.ts';

/** Consecutive tiles of one level. */
export interface TileBlock {
  readonly level: number;
  readonly first: number;
  readonly count: number;
}

/** Reads the tiles of a block, in order. A missing tile is undefined. */
export type ReadTileBlock = (block: TileBlock) => Promise<readonly (Uint8Array | undefined)[]>;

/** Tiles read together: 128 KiB. */
const TILES_TOGETHER = 16;
/**
 * Blocks to keep. A path through a tree has one of each level, and a tree has at most eight levels.
 */
const KEPT = 16;

/** Returns a reader of single tiles that reads and caches whole blocks. */
export function inBlocks(readBlock: ReadTileBlock): ReadTile {
  const blocks = new Map<string, ReturnType<ReadTileBlock>>();
  return async (level, index) => {
    const first = index - (index % TILES_TOGETHER);
    const key = `${level}/${first}`;
    const block = blocks.get(key) ?? readBlock({ level, first, count: TILES_TOGETHER });
    // Reinserting the block makes it the last to be evicted.
    blocks.delete(key);
    blocks.set(key, block);
    const [oldest] = blocks.keys();
    if (blocks.size > KEPT && oldest !== undefined) blocks.delete(oldest);
    return (await block)[index - first];
  };
}
