// SPDX-License-Identifier: Apache-2.0
/**
 * The files of a PostgreSQL as a crash can leave them: its WAL cut at random offsets. What was
 * acknowledged before the cut is there, a batch is there whole or not at all, and verify holds.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { openPostgres } from '#ledger/database/postgres.ts';
import { openStore, type LedgerStore } from '#ledger/store/store.ts';
import { Dice } from '../oracle/dice.ts';
import { startPostgres } from '../support/ledger/postgres.ts';
import { issuedBatch, NOW } from '../support/ledger/records.ts';
import { signed } from '../support/ledger/store-laws.ts';

const BATCHES = 12;
const BATCH = 10;
const CUTS = 6;
const SEED = Number(process.env['SEED'] ?? 1);

const root = mkdtempSync(join(tmpdir(), 'ledger-cut-'));
const server = await startPostgres();
after(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

/** Where the WAL is on disk: a file and how many bytes of it. */
interface WalEnd {
  readonly name: string;
  readonly offset: number;
}

async function asked<T>(url: string, query: string): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<{ answer: T }>(query)).rows[0]?.answer as T;
  } finally {
    await client.end();
  }
}

const WAL_END = `SELECT json_build_object('name', file_name, 'offset', file_offset) AS answer
  FROM pg_walfile_name_offset(pg_current_wal_flush_lsn())`;

/** With owners and rights. */
function copied(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

/** The number of records, after what is not there was appended again. */
async function appendedAgain(store: LedgerStore, batch: number): Promise<number> {
  const records = issuedBatch(batch * BATCH, batch * BATCH + BATCH);
  const results = await store.append(records, { naming: signed, now: NOW });
  assert.ok(results.every((each) => 'index' in each));
  const { records: count, findings } = await store.verify([]);
  assert.deepEqual(findings, []);
  return count;
}

test(`${CUTS} crashes of a PostgreSQL within ${BATCHES} batches (seed ${SEED})`, async () => {
  const url = await server.database('cut');
  const first = await openStore(openPostgres(url));
  await asked(url, 'CHECKPOINT');
  const before = join(root, 'before');
  copied(server.data, before);
  rmSync(join(before, 'postmaster.pid'));
  const ends: WalEnd[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    assert.equal(await appendedAgain(first, batch), (batch + 1) * BATCH);
    ends.push(await asked<WalEnd>(url, WAL_END));
  }
  await first.close();
  await server.stop();
  const wal = join(root, 'wal');
  copied(join(server.data, 'pg_wal'), wal);
  const dice = new Dice(SEED);
  const seen = { whole: 0, none: 0 };
  for (let number = 0; number < CUTS; number += 1) {
    // The last cut is right at the end of a batch.
    const batch = 1 + dice.roll(BATCHES - 1);
    const [from, to] = [ends[batch - 1], ends[batch]];
    assert.ok(from !== undefined && to !== undefined && from.name === to.name);
    const at = number === CUTS - 1 ? to.offset : from.offset + dice.roll(to.offset - from.offset);
    rmSync(server.data, { recursive: true });
    copied(before, server.data);
    rmSync(join(server.data, 'pg_wal'), { recursive: true });
    copied(wal, join(server.data, 'pg_wal'));
    const file = join(server.data, 'pg_wal', to.name);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, at));
    await server.start();
    const store = await openStore(openPostgres(url));
    const size = (await store.logs())[0]?.size ?? 0;
    const acknowledged = (at === to.offset ? batch + 1 : batch) * BATCH;
    assert.ok(size === acknowledged || size === (batch + 1) * BATCH, `${size} of ${acknowledged}`);
    seen[size === batch * BATCH ? 'none' : 'whole'] += 1;
    assert.equal(await appendedAgain(store, batch), (batch + 1) * BATCH);
    await store.close();
    await server.stop();
  }
  await server.start();
  console.log(JSON.stringify(seen));
  assert.ok(seen.none > 0 && seen.whole > 0);
});
