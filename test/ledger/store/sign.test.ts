// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { openCheckpoint } from '#ledger/log/checkpoint.ts';
import { openLogList } from '#ledger/log/list.ts';
import { noteSigner, openNote } from '#ledger/log/note.ts';
import { signedLogList, signHeads } from '#ledger/store/sign.ts';
import { openStore } from '#ledger/store/store.ts';
import { issuedBatch, NOW, PREFIX } from '../../support/ledger/records.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-sign-'));
after(() => rmSync(root, { recursive: true, force: true }));

const [former, current] = [0, 1].map(() => generateKeyPairSync('ed25519').privateKey);
assert.ok(former !== undefined && current !== undefined);
const naming = (key: typeof former) => ({
  prefix: PREFIX,
  publicKey: noteSigner(PREFIX, key).publicKey,
});

test('after a key change each key signs its own log, and either key finds both', async () => {
  const store = await openStore(openSqlite(join(root, 'rotated.db')));
  assert.equal(await signedLogList(store, [former]), undefined);
  await store.append(issuedBatch(0, 3), { naming: naming(former), now: NOW });
  await store.append(issuedBatch(3, 5), { naming: naming(current), now: NOW });
  const heads = await signHeads(store, [current, former]);
  const verifiers = [
    noteSigner(`${PREFIX}/2026`, former),
    noteSigner(`${PREFIX}/2026-2`, current),
  ] as const;
  const sizes = heads.map(
    ({ note }, at) => openCheckpoint(note, verifiers[at] ?? verifiers[0]).size,
  );
  assert.deepEqual(sizes, [3, 2]);
  // The overlap: the new log's checkpoint has a signature by the former key, under the former log's
  // name.
  assert.equal(openNote(heads[1]?.note ?? '', [verifiers[0]]).text.split('\n')[1], '2');
  assert.throws(() => openNote(heads[0]?.note ?? '', [verifiers[1]]));
  assert.deepEqual(await signHeads(store, [current, former]), []);
  const list = (await signedLogList(store, [current, former])) ?? '';
  for (const verifier of verifiers) {
    const logs = openLogList(list, [verifier]);
    assert.deepEqual(
      logs.map(({ verifier: { name }, frozenAt }) => [name, frozenAt]),
      [
        [`${PREFIX}/2026`, 3],
        [`${PREFIX}/2026-2`, undefined],
      ],
    );
  }
  assert.deepEqual((await store.verify(heads.map(({ note }) => note))).findings, []);
  await store.close();
});

test('a follower continues the last log and makes a new year’s log with the new key', async () => {
  const store = await openStore(openSqlite(join(root, 'followed.db')));
  const follows = { ...naming(current), follows: true };
  await store.append(issuedBatch(0, 1), { naming: naming(former), now: NOW });
  await store.append(issuedBatch(1, 2), { naming: follows, now: NOW });
  const nextYear = Date.UTC(2027, 0, 1);
  await store.append(issuedBatch(2, 3), { naming: follows, now: nextYear });
  await store.append(issuedBatch(3, 4), { naming: naming(former), now: nextYear });
  const [first, second, ...others] = await store.logs();
  assert.deepEqual([first?.size, second?.size, others], [2, 2, []]);
  assert.deepEqual(Buffer.from(second?.publicKey ?? []), Buffer.from(first?.publicKey ?? []));
  await store.close();
});

test('a log whose key is gone is not signed by another', async () => {
  const store = await openStore(openSqlite(join(root, 'gone.db')));
  await store.append(issuedBatch(0, 3), { naming: naming(former), now: NOW });
  assert.deepEqual(await signHeads(store, [current]), []);
  await store.close();
});

test('a log that does not continue its last checkpoint is not signed again', async () => {
  const path = join(root, 'shorter.db');
  const store = await openStore(openSqlite(path));
  await store.append(issuedBatch(0, 3), { naming: naming(former), now: NOW });
  await signHeads(store, [former]);
  const database = new DatabaseSync(path);
  database.exec('UPDATE logs SET size = 2');
  database.close();
  await assert.rejects(signHeads(store, [former]), { code: 'LEDGER_INCONSISTENT' });
  await store.close();
});
