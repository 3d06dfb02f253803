// SPDX-License-Identifier: Apache-2.0
/**
 * What somebody who can write the database can do, and whether `verify` finds it: alone, or with a
 * checkpoint that was kept elsewhere.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { openSqlite } from '#ledger/database/sqlite.ts';
import { idOf } from '#ledger/records/ids.ts';
import { openStore } from '#ledger/store/store.ts';
import { appending, issuedBatch, issuedRecord, NOW } from '../../support/ledger/records.ts';
import { signed, signHeads } from '../../support/ledger/store-laws.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-tampering-'));
after(() => rmSync(root, { recursive: true, force: true }));

const context = { naming: signed, now: NOW };
const SIZE = 600;
/** Of a record with annotations. */
const DECOY = 400;
const id = (index: number): number => idOf({ log: 1, index });

/** A ledger with 600 records, its last checkpoint, and a copy of it when it had 300. */
const good = join(root, 'good.db');
const early = join(root, 'early.db');
const outside = await made();

async function made(): Promise<string> {
  const store = await openStore(openSqlite(good));
  await store.append(issuedBatch(0, 300), context);
  await signHeads(store);
  const reader = new DatabaseSync(good);
  reader.prepare('VACUUM INTO ?').run(early);
  reader.close();
  const decoy = issuedRecord(DECOY);
  const annotations = { key: 'decoy', kind: 'issued' };
  await store.append(
    [
      ...issuedBatch(300, DECOY),
      appending({ ...decoy, request: { ...decoy.request, annotations } }),
      ...issuedBatch(DECOY + 1, SIZE),
    ],
    context,
  );
  const [note = ''] = await signHeads(store);
  await store.close();
  return note;
}

/** Another ledger of the same key and size, with other records from 100 on. */
async function forked(path: string): Promise<void> {
  rmSync(path);
  const store = await openStore(openSqlite(path));
  await store.append(issuedBatch(0, 100), context);
  await store.append(issuedBatch(1100, 1100 + SIZE - 100), context);
  await signHeads(store);
  await store.close();
}

type Tamper = (database: DatabaseSync, path: string) => Promise<void> | void;

const flip = (table: string, column: string, where: string): Tamper => {
  return (database) => {
    const row = database.prepare(`SELECT ${column} AS bytes FROM ${table} WHERE ${where}`).get();
    const bytes = Uint8Array.from(row?.['bytes'] as Uint8Array);
    bytes[40 % bytes.length] = (bytes[40 % bytes.length] ?? 0) ^ 1;
    database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(bytes);
  };
};
const execute =
  (script: string): Tamper =>
  (database) =>
    database.exec(script);

const TABLE: readonly [what: string, tamper: Tamper, found: string, withOutside: string][] = [
  ['nothing', () => undefined, '', ''],
  ['a record', flip('records', 'body', `id = ${id(5)}`), ...both('column record')],
  ['a salt', flip('records', 'salt', `id = ${id(5)}`), ...both('column record')],
  [
    'the key of a record',
    execute(`UPDATE records SET record_key = 'x' WHERE id = ${id(5)}`),
    ...both('column'),
  ],
  // Its annotations spell what a key and a kind look like: by them it is not known again.
  [
    'the key of a record, into one that the record has within it',
    execute(`UPDATE records SET record_key = 'decoy' WHERE id = ${id(DECOY)}`),
    ...both('column'),
  ],
  [
    'a record is removed',
    execute(`DELETE FROM records WHERE id = ${id(5)}`),
    ...both('column missing'),
  ],
  [
    'a record is added beyond the log',
    execute(`UPDATE records SET id = ${id(SIZE)} WHERE id = ${id(SIZE - 1)}`),
    ...both('column missing record'),
  ],
  ['an entry', flip('tiles', 'hashes', 'level = -1 AND number = 1'), ...both('column record tile')],
  ['a leaf hash', flip('tiles', 'hashes', 'level = 0 AND number = 1'), ...both('checkpoint tile')],
  ['a hash of level 1', flip('tiles', 'hashes', 'level = 1'), ...both('checkpoint tile')],
  ['a tile is removed', execute('DELETE FROM tiles WHERE level = 1'), ...both('checkpoint tile')],
  ['a tile is added', execute(`INSERT INTO tiles VALUES (1, 3, 0, x'00')`), ...both('tile')],
  [
    'the root in a checkpoint',
    execute(`UPDATE checkpoints SET note = replace(note, '=', 'A=')`),
    ...both('checkpoint'),
  ],
  [
    'all checkpoints are removed, and the log is truncated with its records and tiles',
    execute(`
      DELETE FROM checkpoints; DELETE FROM records WHERE id >= ${id(512)};
      DELETE FROM terms WHERE id >= ${id(512)};
      DELETE FROM tiles WHERE level < 1 AND number = 2; UPDATE logs SET size = 512;`),
    '',
    'checkpoint',
  ],
  [
    'the log is truncated, and its checkpoints are kept',
    execute(`
      DELETE FROM records WHERE id >= ${id(512)}; DELETE FROM terms WHERE id >= ${id(512)};
      DELETE FROM tiles WHERE level < 1 AND number = 2; UPDATE logs SET size = 512;`),
    ...both('checkpoint'),
  ],
  ['a fork by somebody who has the key', (_, path) => forked(path), '', 'checkpoint'],
  ['an older copy', (_, path) => cpSync(early, path), '', 'checkpoint'],
  ['the terms of a record', execute(`DELETE FROM terms WHERE id = ${id(5)}`), ...both('column')],
];

function both(found: string): readonly [string, string] {
  return [found, found];
}

for (const [number, [what, tamper, found, withOutside]] of TABLE.entries()) {
  test(`${what}: found ${found || 'nothing'}, outside ${withOutside || 'nothing'}`, async () => {
    const path = join(root, `${number}.db`);
    cpSync(good, path);
    const database = new DatabaseSync(path);
    await tamper(database, path);
    database.close();
    const store = await openStore(openSqlite(path));
    const verified = async (notes: readonly string[]): Promise<string> => {
      const { findings } = await store.verify(notes);
      return [...new Set(findings.map((each) => each.what))].sort().join(' ');
    };
    assert.equal(await verified([]), found);
    assert.equal(await verified([outside]), withOutside);
    if (found === '' && withOutside !== '') {
      await assert.rejects(store.compareWith(outside), (error: { code?: string }) =>
        ['LEDGER_INCONSISTENT', 'LEDGER_MALFORMED'].includes(error.code ?? ''),
      );
    }
    await store.close();
  });
}
