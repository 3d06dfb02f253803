// SPDX-License-Identifier: Apache-2.0
/** The schema, by numbered steps. A step that was released is never changed. */
import { SignerError } from '../../errors.ts';
import { findable, TERM_KINDS } from '../records/terms.ts';
import { readBody, type ErasureRecord } from '../records/record.ts';
import {
  bytesOf,
  numberOf,
  type SqlColumns,
  type Database,
  type Sql,
  type SqlValue,
} from './database.ts';

/** The columns of terms. */
export const TERMS: SqlColumns = { table: 'terms', names: ['kind', 'value', 'id'] };

interface Migration {
  readonly up: (sql: Sql) => Promise<void>;
  readonly down: (sql: Sql) => Promise<void>;
}

/** Step 1 is the first. */
const MIGRATIONS: readonly Migration[] = [
  { up: (sql) => sql.script(spelled(sql, LOG)), down: (sql) => sql.script(NO_LOG) },
  { up: indexed, down: (sql) => sql.script('DROP TABLE terms; DROP INDEX records_not_after;') },
  // Since then a request without a namespace is found by that of who asked. Older programs find more than they wrote.
  { up: indexedAnew, down: (sql) => sql.script('DROP INDEX records_kind;') },
  { up: removalsListed, down: (sql) => sql.script('DROP TABLE removals;') },
];

/**
 * An `id` is the number of the log times 2^40 plus the index: the order in which records were appended. `at` is the
 * ledger's own time in milliseconds and never falls.
 */
const LOG = `
  CREATE TABLE logs (
    number {integer} PRIMARY KEY, origin TEXT NOT NULL UNIQUE, public_key {bytes} NOT NULL, size {integer} NOT NULL,
    latest {integer} NOT NULL
  );
  CREATE TABLE tiles (
    log {integer} NOT NULL, level {integer} NOT NULL, number {integer} NOT NULL, hashes {bytes} NOT NULL,
    PRIMARY KEY (log, level, number)
  );
  CREATE TABLE checkpoints (
    log {integer} NOT NULL, size {integer} NOT NULL, note TEXT NOT NULL, PRIMARY KEY (log, size)
  );
  CREATE TABLE records (
    id {integer} PRIMARY KEY, record_key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, at {integer} NOT NULL,
    not_after {integer}, salt {bytes} NOT NULL, body {bytes} NOT NULL
  );
  CREATE INDEX records_at ON records (at);
`;
const NO_LOG = 'DROP TABLE records; DROP TABLE checkpoints; DROP TABLE tiles; DROP TABLE logs;';

const INDEX = `
  CREATE TABLE terms (
    kind {integer} NOT NULL, value TEXT NOT NULL, id {integer} NOT NULL, PRIMARY KEY (kind, value, id)
  ) {narrow};
  CREATE INDEX records_not_after ON records (not_after, id) WHERE not_after IS NOT NULL;
`;

/** Which indexes of a log have no record any longer, and the id of the record that says so. No two ranges overlap. */
const REMOVED = `
  CREATE TABLE removals (
    log {integer} NOT NULL, first {integer} NOT NULL, last {integer} NOT NULL, by_record {integer} NOT NULL,
    PRIMARY KEY (log, first)
  );
`;

/** The columns of removals. */
export const REMOVALS: SqlColumns = {
  table: 'removals',
  names: ['log', 'first', 'last', 'by_record'],
};

const SPELLINGS = {
  sqlite: { '{integer}': 'INTEGER', '{bytes}': 'BLOB', '{narrow}': 'WITHOUT ROWID' },
  postgres: { '{integer}': 'BIGINT', '{bytes}': 'BYTEA', '{narrow}': '' },
} as const;

function spelled({ dialect }: Sql, text: string): string {
  return Object.entries(SPELLINGS[dialect]).reduce(
    (script, [word, spelling]) => script.replaceAll(word, spelling),
    text,
  );
}

/** Records whose terms are written together. */
const INDEXED_TOGETHER = 1000;

/** Whatever the terms were, they follow from the records. */
async function indexed(sql: Sql): Promise<void> {
  await sql.script(spelled(sql, INDEX));
  await writeTerms(sql);
}

async function indexedAnew(sql: Sql): Promise<void> {
  await sql.script('DELETE FROM terms; CREATE INDEX records_kind ON records (kind, id);');
  await writeTerms(sql);
}

async function removalsListed(sql: Sql): Promise<void> {
  await sql.script(spelled(sql, REMOVED));
  for (let after = -1; ;) {
    const query = `SELECT id, body FROM records WHERE kind = 'erased' AND id > ? ORDER BY id LIMIT ?`;
    const rows = await sql.all(query, [after, INDEXED_TOGETHER]);
    if (rows.length === 0) return;
    for (const row of rows) {
      const { record } = readBody(bytesOf(row, 'body'));
      if (record.kind === 'erased')
        await sql.insert(REMOVALS, removalRows(numberOf(row, 'id'), record));
    }
    after = numberOf(rows.at(-1), 'id');
  }
}

/** The rows of a record of a removal. */
export function removalRows(
  id: number,
  { removed }: ErasureRecord,
): readonly (readonly SqlValue[])[] {
  return removed.map(({ log, from, to }) => [log, from, to, id]);
}

async function writeTerms(sql: Sql): Promise<void> {
  for (let after = -1; ;) {
    const query = 'SELECT id, body FROM records WHERE id > ? ORDER BY id LIMIT ?';
    const rows = await sql.all(query, [after, INDEXED_TOGETHER]);
    if (rows.length === 0) return;
    const terms = rows.flatMap((row) =>
      termRows(numberOf(row, 'id'), findable(readBody(bytesOf(row, 'body')).record).terms),
    );
    await sql.insert(TERMS, terms);
    after = numberOf(rows.at(-1), 'id');
  }
}

/** The rows of a record's terms. */
export function termRows(
  id: number,
  terms: ReturnType<typeof findable>['terms'],
): readonly (readonly SqlValue[])[] {
  return terms.map(({ kind, value }) => [TERM_KINDS[kind], value, id]);
}

/** The schema of this program. */
export const LATEST_SCHEMA = MIGRATIONS.length;

/** Which schema a database had, and which one it has now; 0: it was empty. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * Brings the schema to `target`, up or down, in one transaction a step. Records stay as they are from schema 1 on; to 0
 * removes all of them.
 *
 * @throws SignerError LEDGER_INCONSISTENT if the database was made by a newer program
 */
export async function migrate(database: Database, target = LATEST_SCHEMA): Promise<Migrated> {
  const script = 'CREATE TABLE IF NOT EXISTS migrations (number {integer} PRIMARY KEY);';
  await database.write((sql) => sql.script(spelled(sql, script)));
  let from: number | undefined;
  for (;;) {
    const before = await database.write((sql) => step(sql, target), { long: true });
    from ??= before;
    if (before === target) return { from, to: target };
  }
}

/** One step towards `target`. Returns the schema before it. */
async function step(sql: Sql, target: number): Promise<number> {
  const [row] = await sql.all('SELECT COALESCE(MAX(number), 0) AS number FROM migrations');
  const version = numberOf(row, 'number');
  if (version > MIGRATIONS.length) throw tooNew(version);
  if (version < target) {
    await MIGRATIONS[version]?.up(sql);
    await sql.insert({ table: 'migrations', names: ['number'] }, [[version + 1]]);
  } else if (version > target) {
    await MIGRATIONS[version - 1]?.down(sql);
    await sql.all('DELETE FROM migrations WHERE number = ?', [version]);
  }
  return version;
}

function tooNew(version: number): SignerError {
  const message = `the database of the ledger has the schema ${version}, and this program knows ${MIGRATIONS.length}: start the newer program again, or let it bring the database to ${MIGRATIONS.length} (countersign ledger migrate --schema ${MIGRATIONS.length})`;
  return new SignerError({ code: 'LEDGER_INCONSISTENT', disposition: 'wait', message });
}
