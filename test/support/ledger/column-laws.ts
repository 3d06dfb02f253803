// SPDX-License-Identifier: Apache-2.0
/**
 * What must hold where somebody has changed what the database keeps beside records: in any
 * database.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { textOf, type Database, type Sql } from '#ledger/database/database.ts';
import { idOf } from '#ledger/records/ids.ts';
import { sqlSource } from '#ledger/store/source.ts';
import { openStore, type LedgerStore } from '#ledger/store/store.ts';
import { verifyLedger, type VerifyReport } from '#ledger/store/verify.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { appending, issuedBatch, NOW, podCertificate, resultRecord } from './records.ts';
import { signed, signHeads } from './store-laws.ts';

const DAY = 86_400_000;
const id = (index: number): number => idOf({ log: 1, index });
const eraser = (now: number): Parameters<LedgerStore['erase']>[1] => ({
  naming: signed,
  now,
  by: 'admin',
  limit: 100,
  salt: randomBytes(32),
});

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

const COLUMNS = {
  sqlite: `SELECT m.name AS "table", c.name AS name, lower(c.type) AS type FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'`,
  postgres: `SELECT table_name AS "table", column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = current_schema()`,
} as const;

/** Columns as the database itself lists them: one that a later schema adds is changed here, too. */
async function columnsIn(sql: Sql): Promise<readonly Column[]> {
  return (await sql.all(COLUMNS[sql.dialect])).map((row) => ({
    table: textOf(row, 'table'),
    name: textOf(row, 'name'),
    type: textOf(row, 'type'),
  }));
}

/** Changes one row: the one that this column orders first. */
async function change(sql: Sql, { table, name, type }: Column): Promise<void> {
  const first = `(SELECT MIN(${name}) FROM ${table})`;
  if (type === 'text') {
    await sql.script(`UPDATE ${table} SET ${name} = 'x' || ${name} WHERE ${name} = ${first}`);
  } else if (type.includes('int')) {
    await sql.script(`UPDATE ${table} SET ${name} = ${name} + 40 WHERE ${name} = ${first}`);
  } else {
    const [row] = await sql.all(`SELECT ${name} AS bytes FROM ${table} LIMIT 1`);
    const bytes = row?.['bytes'] as Uint8Array;
    const changed = Uint8Array.from(bytes, (byte, at) =>
      at === bytes.length - 1 ? byte ^ 1 : byte,
    );
    await sql.all(`UPDATE ${table} SET ${name} = ? WHERE ${name} = ?`, [changed, bytes]);
  }
}

class RolledBack extends Error {
  readonly report: VerifyReport;
  constructor(report: VerifyReport) {
    super('rolled back');
    this.report = report;
  }
}

/** What a check finds after a change, which is undone. */
async function foundAfter(
  database: Database,
  tamper: (sql: Sql) => Promise<void>,
): Promise<VerifyReport> {
  try {
    return await database.write(async (sql) => {
      await tamper(sql);
      throw new RolledBack(await verifyLedger(sqlSource(sql), { outside: [] }));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.report;
    throw error;
  }
}

/** Beside the records: no hash covers them. */
const BESIDE = new Set([
  'records.record_key',
  'records.kind',
  'records.at',
  'records.not_after',
  'logs.latest',
  'checkpoints.size',
  'migrations.number',
]);

/** @param open - an empty database of this name */
export function columnLaws(open: (name: string) => Promise<Database>): void {
  const context = { naming: signed, now: NOW };
  test('verify names each column of each table that somebody has changed', async () => {
    const database = await open('columns');
    const store = await openStore(database);
    await store.append(issuedBatch(0, 12), context);
    await store.append([appending(resultRecord(3))], { ...context, now: NOW + 1000 });
    await store.erase({ reason: 'person', ids: [id(2)] }, eraser(NOW + 2000));
    await signHeads(store);
    assert.deepEqual((await store.verify([])).findings, []);
    const columns = await database.read(columnsIn);
    const tables = new Set(columns.map(({ table }) => table));
    assert.deepEqual([...tables].sort(), [
      'checkpoints',
      'logs',
      'migrations',
      'records',
      'removals',
      'terms',
      'tiles',
    ]);
    for (const column of columns) {
      const name = `${column.table}.${column.name}`;
      const { found, findings } = await foundAfter(database, (sql) => change(sql, column));
      assert.ok(found > 0, `${name} was changed, and nothing is found`);
      const isNamed = findings.some(({ message }) => message.includes(name));
      if (BESIDE.has(name)) assert.ok(isNamed, `${name}: ${JSON.stringify(findings)}`);
    }
    for (const change of [
      `UPDATE records SET not_after = NULL WHERE id = ${id(5)}`,
      `UPDATE records SET not_after = 1 WHERE id = ${id(12)}`,
      `INSERT INTO terms (kind, value, id) VALUES (2, 'sha256:00', ${id(5)})`,
      `INSERT INTO removals (log, first, last, by_record) VALUES (1, 5, 5, ${id(13)})`,
      `INSERT INTO checkpoints (log, size, note) VALUES (7, 1, '')`,
      `DELETE FROM removals`,
      `DELETE FROM terms WHERE kind = 2 AND id = ${id(5)}`,
    ]) {
      const { found } = await foundAfter(database, (sql) => sql.script(change));
      assert.ok(found > 0, change);
    }
    await store.close();
  });

  test('retention removes no record of a living certificate, whatever its columns say', async () => {
    const database = await open('laundered');
    const store = await openStore(database);
    await store.append(issuedBatch(9000, 9003), context);
    const later = NOW + 2 * DAY;
    const columns = `at = ${NOW - 500 * DAY}, not_after = 1`;
    const retention = { reason: 'retention', appendedBefore: NOW - 400 * DAY } as const;
    await database.write((sql) => sql.script(`UPDATE records SET ${columns} WHERE id = ${id(1)}`));
    await assert.rejects(store.erase(retention, eraser(later)), { code: 'LEDGER_INCONSISTENT' });
    // With its bytes changed as well: the entry stays what it was.
    const body = Buffer.from((await store.get(id(1)))?.body ?? []).toString();
    const older = body.replaceAll(/"at":"2026/g, '"at":"2024');
    assert.notEqual(older, body);
    await database.write((sql) =>
      sql.all('UPDATE records SET body = ? WHERE id = ?', [Buffer.from(older), id(1)]),
    );
    await assert.rejects(store.erase(retention, eraser(later)), { code: 'LEDGER_INCONSISTENT' });
    assert.equal((await store.after(0, 10)).length, 3);
    await store.close();
  });

  test('an erasure reports living certificates, and removes no record by a term alone', async () => {
    const database = await open('erased-by-term');
    const store = await openStore(database);
    await store.append(issuedBatch(9000, 9003), context);
    await store.append([appending(resultRecord(9000))], context);
    await database.write(async (sql) => {
      await sql.script(`UPDATE records SET not_after = 1 WHERE id = ${id(0)}`);
      await sql.all('INSERT INTO terms (kind, value, id) VALUES (1, ?, ?)', [
        'request-9000/issued',
        id(2),
      ]);
    });
    const erasure = { reason: 'person', ids: [id(0)] } as const;
    const { removed, record } = await store.erase(erasure, eraser(NOW));
    assert.equal(removed, 2);
    const said = Buffer.from((await store.get(idOf(record ?? { log: 1, index: 0 })))?.body ?? []);
    assert.ok(said.includes(fingerprint(podCertificate(9000))));
    assert.notEqual(await store.get(id(2)), undefined);
    await store.close();
  });

  test('a certificate has a record by what a record says, and not by a term', async () => {
    const database = await open('recorded-by-term');
    const store = await openStore(database);
    await store.append(issuedBatch(0, 2), context);
    const print = fingerprint(podCertificate(77));
    const term = [2, print, id(1)];
    await database.write((sql) => sql.all('INSERT INTO terms VALUES (?, ?, ?)', term));
    assert.deepEqual(await store.recorded([print]), []);
    await store.close();
  });
}
