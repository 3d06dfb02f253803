// SPDX-License-Identifier: Apache-2.0
/** The laws of the store on a real PostgreSQL, and what a crash of the server leaves. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SignerError } from '../../src/errors.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openStore } from '../../src/ledger/store/store.ts';
import { startPostgres } from '../support/ledger/postgres.ts';
import { issuedBatch, NOW } from '../support/ledger/records.ts';
import { signed, storeLaws } from '../support/ledger/store-laws.ts';

const server = await startPostgres();
after(() => server[Symbol.asyncDispose]());

storeLaws(async (name) => openPostgres(await server.database(name)));

test('batches that two processes append while the server crashes are there once, and in full', async () => {
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
