// SPDX-License-Identifier: Apache-2.0
/**
 * A PostgreSQL is lost, and its streaming replica is promoted: with all that was written, or
 * without the last of it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../cluster/until.ts';
import { openPostgres } from '#ledger/database/postgres.ts';
import { openStore } from '#ledger/store/store.ts';
import { startPostgres } from '../support/ledger/postgres.ts';
import { issuedBatch, NOW } from '../support/ledger/records.ts';
import { signed, signHeads } from '../support/ledger/store-laws.ts';

const PATIENCE = 120_000;
const context = { naming: signed, now: NOW };

test('a promoted replica continues the log where its server has ended', async () => {
  await using server = await startPostgres();
  const before = await openStore(openPostgres(await server.database('ledger')));
  await before.append(issuedBatch(0, 300), context);
  const replica = await server.replica();
  await before.append(issuedBatch(300, 400), context);
  const notes = [...(await signHeads(before))];
  await until('it has caught up', PATIENCE, () => replica.hasCaughtUp());
  const reading = openPostgres(replica.url('ledger'));
  // A replica that nobody has promoted takes no record.
  await assert.rejects(openStore(reading), { code: 'LEDGER_UNAVAILABLE' });
  await server.stop();
  await assert.rejects(before.append(issuedBatch(400, 410), context), {
    code: 'LEDGER_UNAVAILABLE',
  });
  await replica.promote();
  const store = await openStore(reading);
  for (const note of notes) await store.compareWith(note);
  // What was not acknowledged is sent again, with what is new.
  const results = await store.append(issuedBatch(395, 450), context);
  assert.deepEqual(
    results.map((each) => 'known' in each && each.known),
    [...Array<boolean>(5).fill(true), ...Array<boolean>(50).fill(false)],
  );
  notes.push(...(await signHeads(store)));
  const report = await store.verify(notes);
  assert.deepEqual([report.records, report.findings], [450, []]);
  await store.close();
  await before.close();
});

test('a replica that lacks records whose checkpoint was published is not continued', async () => {
  await using server = await startPostgres();
  const before = await openStore(openPostgres(await server.database('ledger')));
  await before.append(issuedBatch(0, 300), context);
  const [early = ''] = await signHeads(before);
  const replica = await server.replica();
  await until('it has caught up', PATIENCE, () => replica.hasCaughtUp());
  await replica.cutOff();
  await before.append(issuedBatch(300, 310), context);
  const [last = ''] = await signHeads(before);
  await server.stop();
  await replica.promote();
  const store = await openStore(openPostgres(replica.url('ledger')));
  await store.compareWith(early);
  await assert.rejects(store.compareWith(last), {
    code: 'LEDGER_INCONSISTENT',
    message: /has 300 entries, and a checkpoint has 310.*an older copy was restored/,
  });
  await store.close();
  await before.close();
});
