// SPDX-License-Identifier: Apache-2.0
/** Reads tiles in blocks: a check goes through a tree from left to right, and each read may be a round trip. */
import type { ReadTile } from './tiles.ts';

/** Tiles of one level, from one index on. */
export interface TileBlock {
  readonly level: number;
  readonly first: number;
  readonly count: number;
}

/** Reads the tiles of a block, in order; nothing where there is none. */
export type ReadTileBlock = (block: TileBlock) => Promise<readonly (Uint8Array | undefined)[]>;

/** Tiles that are read together: 128 KiB. */
const TILES_TOGETHER = 16;
/** Blocks that are kept: a path through a tree has one of each level, and there are eight levels at most. */
const KEPT = 16;

/** The same tiles one at a time, each block read once as long as it is among the last that were asked for. */
export function inBlocks(readBlock: ReadTileBlock): ReadTile {
  const blocks = new Map<string, ReturnType<ReadTileBlock>>();
  return async (level, index) => {
    const first = index - (index % TILES_TOGETHER);
    const key = `${level}/${first}`;
    const block = blocks.get(key) ?? readBlock({ level, first, count: TILES_TOGETHER });
    // The last that was asked for is the last to go.
    blocks.delete(key);
    blocks.set(key, block);
    const [oldest] = blocks.keys();
    if (blocks.size > KEPT && oldest !== undefined) blocks.delete(oldest);
    return (await block)[index - first];
  };
}
