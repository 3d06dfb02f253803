// SPDX-License-Identifier: Apache-2.0
/**
 * The schema of a large ledger, down step by step and up again, in both databases: afterwards
 * everything is as it was. LEDGER_RECORDS=1000000 is `make test-ledger-million`.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Database, SqlValue } from '#ledger/database/database.ts';
import { LATEST_SCHEMA, migrate } from '#ledger/database/migrations.ts';
import { openPostgres } from '#ledger/database/postgres.ts';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { idOf } from '#ledger/records/ids.ts';
import { openStore, storeOf } from '#ledger/store/store.ts';
import { startPostgres } from '../support/ledger/postgres.ts';
import { issuedBatch, NOW } from '../support/ledger/records.ts';
import { signed, signHeads } from '../support/ledger/store-laws.ts';

const RECORDS = Number(process.env['LEDGER_RECORDS'] ?? 10_000);
const BATCH = 1000;
const PAGE = 10_000;
const REMOVED = 17;
/** A pod of a ledger has no more. */
const MAX_BYTES = 640 * 2 ** 20;

const root = mkdtempSync(join(tmpdir(), 'ledger-migrations-'));
const server = await startPostgres();
after(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

async function filled(database: Database): Promise<void> {
  const store = await openStore(database);
  for (let from = 0; from < RECORDS; from += BATCH) {
    await store.append(issuedBatch(from, Math.min(from + BATCH, RECORDS)), {
      naming: signed,
      now: NOW + from,
    });
  }
  const eraser = { naming: signed, now: NOW + RECORDS, by: 'admin', salt: randomBytes(32) };
  const ids = Array.from({ length: REMOVED }, (_, at) => idOf({ log: 1, index: at * 7 }));
  await store.erase({ reason: 'person', ids }, { ...eraser, limit: REMOVED });
  await signHeads(store);
}

/** By what records are found, and which were removed: all that a migration makes. */
async function derivedFrom(database: Database): Promise<string> {
  const digest = createHash('sha256');
  const tables = { terms: ['kind', 'value', 'id'], removals: ['log', 'first'] };
  for (const [table, key] of Object.entries(tables)) {
    const columns = key.join(', ');
    let after: readonly SqlValue[] = key.map((name) => (name === 'value' ? '' : -1));
    for (;;) {
      const query = `SELECT * FROM ${table} WHERE (${columns}) > (${key.map(() => '?').join(', ')}) ORDER BY ${columns} LIMIT ?`;
      const rows = await database.read((sql) => sql.all(query, [...after, PAGE]));
      for (const row of rows) digest.update(JSON.stringify(Object.values(row)));
      const last = rows.at(-1);
      if (last === undefined) break;
      after = key.map((name) => last[name] ?? null);
    }
  }
  return digest.digest('hex');
}

const DATABASES: Readonly<Record<string, () => Promise<Database>>> = {
  SQLite: () => Promise.resolve(openSqlite(join(root, 'ledger.db'))),
  PostgreSQL: async () => openPostgres(await server.database('migrations')),
};

for (const [name, open] of Object.entries(DATABASES)) {
  test(`${name}: ${RECORDS} records, down to schema 1 by steps and up again`, async () => {
    const database = await open();
    await filled(database);
    const store = storeOf(database);
    const before = await derivedFrom(database);
    const logs = await store.logs();
    const began = performance.now();
    for (let schema = LATEST_SCHEMA - 1; schema >= 1; schema -= 1) {
      assert.deepEqual(await migrate(database, schema), { from: schema + 1, to: schema });
      // Whatever the schema is, no record and no hash is touched.
      // The finding is about the schema, which is not this program's.
      if (schema === 1) {
        const { findings } = await store.verify([]);
        assert.deepEqual(
          findings.map(({ message }) => message),
          [`migrations.number has 1, and this program knows the schema ${LATEST_SCHEMA}`],
        );
      }
    }
    const down = performance.now();
    assert.deepEqual(await migrate(database), { from: 1, to: LATEST_SCHEMA });
    const up = performance.now();
    assert.equal(await derivedFrom(database), before);
    assert.deepEqual(await store.logs(), logs);
    const report = await store.verify([]);
    assert.deepEqual([report.found, report.erased.person], [0, REMOVED]);
    const { maxRSS } = process.resourceUsage();
    console.log(
      JSON.stringify({ name, RECORDS, downMs: down - began, upMs: up - down, maxRssKiB: maxRSS }),
    );
    assert.ok(maxRSS * 1024 < MAX_BYTES, `${maxRSS} KiB`);
    await database.close();
  });
}
