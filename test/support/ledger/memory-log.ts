// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { signCheckpoint } from '#ledger/log/checkpoint.ts';
import type { NoteSigner } from '#ledger/log/note.ts';
import { HASH_BYTES } from '#ledger/log/merkle.ts';
import { grownTiles, rangeHash, servedTile, tilePath, type ReadTile } from '#ledger/log/tiles.ts';

/** A log whose tiles are in memory. */
export class MemoryLog {
  readonly tiles = new Map<string, Uint8Array>();
  size = 0;

  readonly read: ReadTile = (level, index) => Promise.resolve(this.tiles.get(`${level}/${index}`));

  async append(entries: readonly Uint8Array[]): Promise<void> {
    for (const { level, index, hashes } of await grownTiles(this.read, this.size, entries)) {
      this.tiles.set(`${level}/${index}`, hashes);
    }
    this.size += entries.length;
  }

  root(size = this.size): Promise<Uint8Array> {
    return rangeHash(this.read, 0, size);
  }

  async checkpoint(signer: NoteSigner, size = this.size): Promise<string> {
    return signCheckpoint({ origin: signer.name, size, root: await this.root(size) }, signer);
  }

  /** Writes what a web server would serve of the log. */
  writeTo(directory: string, checkpoint: string): void {
    write(join(directory, 'checkpoint'), checkpoint);
    for (const [key, hashes] of this.tiles) {
      const [level, index] = key.split('/').map(Number) as [number, number];
      const path = tilePath(level, index, hashes.length / HASH_BYTES);
      write(join(directory, path), servedTile(level, hashes));
    }
  }
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
