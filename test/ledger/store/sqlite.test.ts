// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { idOf } from '#ledger/records/ids.ts';
import { openStore } from '#ledger/store/store.ts';
import {
  appending,
  issuedBatch,
  issuedRecord,
  naming,
  NOW,
  resultRecord,
} from '../../support/ledger/records.ts';
import { storeLaws } from '../../support/ledger/store-laws.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-sqlite-'));
after(() => rmSync(root, { recursive: true, force: true }));

storeLaws((name) => Promise.resolve(openSqlite(join(root, `${name}.db`))));

/** Files of the database that hold a text. */
function filesWith(name: string, text: string): readonly string[] {
  return readdirSync(root)
    .filter((file) => file.startsWith(`${name}.db`))
    .filter((file) => readFileSync(join(root, file)).includes(text));
}

test('no file of the database holds a person whose records were removed', async () => {
  const store = await openStore(openSqlite(join(root, 'scrubbed.db')));
  const requester = { user: { username: 'jane.doe@example.com' } };
  await store.append([...issuedBatch(0, 40), appending(issuedRecord(40, { requester }))], {
    naming,
    now: NOW,
  });
  await store.append(issuedBatch(41, 80), { naming, now: NOW });
  assert.notDeepEqual(filesWith('scrubbed', 'jane.doe'), []);
  const eraser = { naming, now: NOW, by: 'admin', limit: 1, salt: randomBytes(32) };
  await store.erase({ reason: 'person', ids: [idOf({ log: 1, index: 40 })] }, eraser);
  assert.equal(await store.scrub(), true);
  assert.deepEqual(filesWith('scrubbed', 'jane.doe'), []);
  assert.equal((await store.verify([])).found, 0);
  await store.close();
});

test('removes a person’s record with all its results, however many there are', async () => {
  const store = await openStore(openSqlite(join(root, 'results-of-one.db')));
  // More than a statement of SQLite may have parameters (SQLITE_MAX_VARIABLE_NUMBER).
  const MANY = 33_000;
  await store.append(issuedBatch(0, 2), { naming, now: NOW });
  for (let from = 0; from < MANY; from += 3_000) {
    const batch = Array.from({ length: 3_000 }, (_, at) =>
      appending({ ...resultRecord(0), key: `request-0/result-${from + at}` }),
    );
    await store.append(batch, { naming, now: NOW });
  }
  const eraser = { naming, now: NOW, by: 'admin', limit: 1, salt: randomBytes(32) };
  const erased = await store.erase({ reason: 'person', ids: [idOf({ log: 1, index: 0 })] }, eraser);
  assert.equal(erased.removed, 1 + MANY);
  const report = await store.verify([]);
  assert.deepEqual([report.records, report.found], [2, 0]);
  await store.close();
});

test('who reads keeps nobody waiting who removes: what was removed is scrubbed later', async () => {
  const path = join(root, 'read.db');
  const [store, other] = [await openStore(openSqlite(path)), openSqlite(path)];
  await store.append(issuedBatch(0, 5), { naming, now: NOW });
  const reading = Promise.withResolvers<undefined>();
  const began = Promise.withResolvers<undefined>();
  const read = other.read(async (sql) => {
    await sql.all('SELECT COUNT(*) AS count FROM records');
    began.resolve(undefined);
    await reading.promise;
  });
  await began.promise;
  const eraser = { naming, now: NOW, by: 'admin', limit: 1, salt: randomBytes(32) };
  await store.erase({ reason: 'person', ids: [idOf({ log: 1, index: 2 })] }, eraser);
  assert.equal(await store.scrub(), false);
  await store.append(issuedBatch(5, 9), { naming, now: NOW });
  reading.resolve(undefined);
  await read;
  assert.equal(await store.scrub(), true);
  await other.close();
  await store.close();
});
