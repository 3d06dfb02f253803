// SPDX-License-Identifier: Apache-2.0
/** The laws of the store on a real PostgreSQL, and what a crash of the server leaves. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { openPostgres } from '#ledger/database/postgres.ts';
import { openStore } from '#ledger/store/store.ts';
import { startPostgres } from '../support/ledger/postgres.ts';
import { issuedBatch, NOW } from '../support/ledger/records.ts';
import { signed, storeLaws } from '../support/ledger/store-laws.ts';

const server = await startPostgres();
after(() => server[Symbol.asyncDispose]());

storeLaws(async (name) => openPostgres(await server.database(name)));

test('batches of two processes during a server crash are there once, and in full', async () => {
  const url = await server.database('crash');
  const stores = [await openStore(openPostgres(url)), await openStore(openPostgres(url))];
  const BATCHES = 40;
  const crashes = [10, 25];
  let refused = 0;
  const appended = async (batch: number): Promise<void> => {
    const records = issuedBatch(batch * 10, batch * 10 + 10);
    for (;;) {
      try {
        const results = await stores[batch % 2]?.append(records, { naming: signed, now: NOW });
        assert.ok(results?.every((each) => 'index' in each));
        return;
      } catch (error) {
        assert.ok(
          error instanceof SignerError && error.code === 'LEDGER_UNAVAILABLE',
          String(error),
        );
        refused += 1;
        await ready;
      }
    }
  };
  let ready: Promise<void> = Promise.resolve();
  for (let batch = 0; batch < BATCHES; batch += 4) {
    const four = [0, 1, 2, 3].map((at) => appended(batch + at));
    if (crashes.some((each) => each >= batch && each < batch + 4)) ready = server.crash();
    await Promise.all([...four, ready]);
  }
  const [store] = stores;
  const report = await store?.verify([]);
  assert.deepEqual([report?.records, report?.findings], [BATCHES * 10, []]);
  console.log(JSON.stringify({ refused }));
  for (const each of stores) await each.close();
});

test('gives up a statement that takes too long, and waits for a long transaction', async () => {
  const database = openPostgres(await server.database('patience'));
  await database.write((sql) => sql.script('CREATE TABLE things (name TEXT)'));
  const slow = 'SELECT pg_sleep(9.5)::text AS slept';
  const [refused, waited] = await Promise.allSettled([
    database.write(async (sql) => {
      await sql.script("INSERT INTO things VALUES ('half')");
      await sql.all(slow);
    }),
    database.read((sql) => sql.all(slow), { long: true }),
  ]);
  assert.ok(refused.status === 'rejected');
  const { code, message } = refused.reason as SignerError;
  assert.equal(code, 'LEDGER_UNAVAILABLE');
  assert.match(message, /statement timeout/);
  assert.equal(waited.status, 'fulfilled');
  assert.deepEqual(await database.read((sql) => sql.all('SELECT name FROM things')), []);
  await database.close();
});

test('a hanging server is LEDGER_UNAVAILABLE after a bound, and used again later', async () => {
  const url = await server.database('hangs');
  const store = await openStore(openPostgres(url));
  await store.append(issuedBatch(0, 2), { naming: signed, now: NOW });
  const other = await openStore(openPostgres(url));
  for (const each of server.processes()) process.kill(each, 'SIGSTOP');
  try {
    const append = store.append(issuedBatch(2, 4), { naming: signed, now: NOW });
    await assert.rejects(append, { code: 'LEDGER_UNAVAILABLE' });
    await other.close();
  } finally {
    for (const each of server.processes()) process.kill(each, 'SIGCONT');
  }
  await store.append(issuedBatch(2, 4), { naming: signed, now: NOW });
  assert.deepEqual((await store.verify([])).found, 0);
  await store.close();
});
