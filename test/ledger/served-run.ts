// SPDX-License-Identifier: Apache-2.0
/**
 * What a store serves, as files, in the hands of other people's programs: also after records were
 * removed.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { objectOf } from '#ledger/ledger/api/object.ts';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { HASH_BYTES } from '#ledger/log/merkle.ts';
import { formatVerifierKey } from '#ledger/log/note.ts';
import { formatProof, inclusionPath } from '#ledger/log/prove.ts';
import { ENTRIES_LEVEL, servedTile, tilePath } from '#ledger/log/tiles.ts';
import { idOf } from '#ledger/records/ids.ts';
import { contentsOf } from '#ledger/store/search.ts';
import { openStore, type LedgerStore } from '#ledger/store/store.ts';
import { issuedBatch, NOW, PREFIX } from '../support/ledger/records.ts';
import { signed, signerOf, signHeads } from '../support/ledger/store-laws.ts';
import { verdictOf } from './build.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-served-'));
after(() => rmSync(root, { recursive: true, force: true }));

const key = formatVerifierKey(signerOf(`${PREFIX}/2026`));
const context = { naming: signed, now: NOW };

/** Writes all tiles of the first log below `directory`. */
async function writeTiles(store: LedgerStore, directory: string): Promise<void> {
  const write = (path: string, bytes: string | Uint8Array): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), bytes);
  };
  write('checkpoint', (await store.checkpoint(1)) ?? '');
  for (const level of [ENTRIES_LEVEL, 0, 1, 2]) {
    for (let index = 0; ; index += 1) {
      const hashes = await store.tile(1, level, index);
      if (hashes === undefined) break;
      write(tilePath(level, index, hashes.length / HASH_BYTES), servedTile(level, hashes));
    }
  }
}

test('verifies tiles, checkpoints and proofs of a store, also after removals', async () => {
  const store = await openStore(openSqlite(join(root, 'ledger.db')));
  const older: string[] = [];
  for (const [from, to] of [
    [0, 1],
    [1, 300],
    [300, 900],
  ] as const) {
    await store.append(issuedBatch(from, to), context);
    for (const note of await signHeads(store)) {
      older.push(join(root, `older-${to}`));
      writeFileSync(older.at(-1) ?? '', note);
    }
  }
  const proof = join(root, 'a.tlog-proof');
  const proved = await store.prove(idOf({ log: 1, index: 512 }));
  assert.ok(proved !== undefined);
  writeFileSync(proof, formatProof(proved));
  // What `ledger export` prints, a line a record.
  const lines = (await store.after(0, 10_000)).map(
    (each) => `${JSON.stringify(objectOf(each, contentsOf(each), new Map()))}\n`,
  );
  const tiles = await Promise.all([0, 1, 2, 3].map((index) => store.tile(1, 0, index)));
  const exported = join(root, 'records.jsonl');
  const leaves = join(root, 'leaves');
  writeFileSync(leaves, Buffer.concat(tiles.map((each) => each ?? new Uint8Array())));
  writeFileSync(exported, lines.join(''));
  assert.equal(await verdictOf('leaves', leaves, [exported]), '');
  writeFileSync(exported, lines.join('').replaceAll('"pod-700"', '"pod-7"'));
  assert.match(await verdictOf('leaves', leaves, [exported]), /is not the leaf/);
  const accepted = async (name: string): Promise<void> => {
    const directory = join(root, name);
    await writeTiles(store, directory);
    assert.equal(await verdictOf('tlog', key, [directory, ...older]), '');
    assert.equal(await verdictOf('fsck', key, [directory]), '');
    assert.equal(await verdictOf('inclusion', key, [proof]), '');
  };
  await accepted('whole');
  const eraser = { naming: signed, by: 'ledger', limit: 10_000, salt: randomBytes(32) };
  const erasure = { reason: 'retention', appendedBefore: NOW + 1 } as const;
  const { removed } = await store.erase(erasure, { ...eraser, now: NOW + 24 * 3_600_000 });
  assert.equal(removed, 900);
  await signHeads(store);
  await accepted('removed');
  // Whoever kept salt and record proves it by the log as it is now.
  const checkpoint = (await store.checkpoint(1)) ?? '';
  const size = Number(checkpoint.split('\n')[1]);
  const path = await inclusionPath((level, index) => store.tile(1, level, index), 512, size);
  writeFileSync(join(root, 'bare.tlog-proof'), formatProof({ index: 512, path, checkpoint }));
  writeFileSync(join(root, 'kept'), proved.extra ?? '');
  const files = ['bare.tlog-proof', 'kept'].map((name) => join(root, name));
  assert.equal(await verdictOf('inclusion', key, files), '');
  assert.notEqual(await verdictOf('inclusion', key, files.slice(0, 1)), '');
  await store.close();
});
