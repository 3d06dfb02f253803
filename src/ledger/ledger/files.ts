// SPDX-License-Identifier: Apache-2.0
/**
 * The logs as files (C2SP tlog-tiles), which are public: `/log/1/checkpoint`, `/log/1/tile/0/000`.
 */
import { parseTilePath, servedTile, type LedgerStore } from '../index.ts';

const PATH = /^\/log\/([1-9]\d{0,3})\/(.+)$/;
const HASH_BYTES = 32;

/** Returns the bytes of a file, or undefined if there is none. */
export async function logFile(
  store: Pick<LedgerStore, 'checkpoint' | 'tile'>,
  path: string,
): Promise<Uint8Array | undefined> {
  const [, number = '', name = ''] = PATH.exec(path) ?? [];
  if (number === '') return undefined;
  const log = Number(number);
  if (name === 'checkpoint') {
    const note = await store.checkpoint(log);
    return note === undefined ? undefined : Buffer.from(note);
  }
  const asked = parseTilePath(name);
  if (asked === undefined) return undefined;
  const hashes = await store.tile(log, asked.level, asked.index);
  const wanted = asked.width * HASH_BYTES;
  if (hashes === undefined || hashes.length < wanted) return undefined;
  return servedTile(asked.level, hashes.subarray(0, wanted));
}
