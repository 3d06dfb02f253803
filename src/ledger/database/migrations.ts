// SPDX-License-Identifier: Apache-2.0
/** The schema as numbered steps. A released step never changes. `tables.ts` has its tables. */
import { SignerError } from '#base/errors.ts';
import { findable } from '../records/terms.ts';
import { readBody } from '../records/record.ts';
import { bytesOf, numberOf, type Database, type Sql } from './database.ts';
import {
  INDEX,
  LOG,
  NO_LOG,
  REMOVALS,
  removalRows,
  REMOVED,
  spelled,
  TERMS,
  termRows,
} from './tables.ts';

interface Migration {
  readonly up: (sql: Sql) => Promise<void>;
  readonly down: (sql: Sql) => Promise<void>;
}

/** Step 1 comes first. */
const MIGRATIONS: readonly Migration[] = [
  { up: (sql) => sql.script(spelled(sql, LOG)), down: (sql) => sql.script(NO_LOG) },
  { up: indexed, down: (sql) => sql.script('DROP TABLE terms; DROP INDEX records_not_after;') },
  // From this step on, a request without a namespace is found by the namespace of its requester.
  // Older programs read more terms than they write.
  { up: indexedAnew, down: (sql) => sql.script('DROP INDEX records_kind;') },
  { up: removalsListed, down: (sql) => sql.script('DROP TABLE removals;') },
];

/** Number of records whose terms are written in one statement. */
const INDEXED_TOGETHER = 1000;

/** Rebuilds all terms from the records. */
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

/** The schema of this program. */
export const LATEST_SCHEMA = MIGRATIONS.length;

/** The schema that a database had and the one that it has now. 0 means it was empty. */
export interface MigrationResult {
  readonly from: number;
  readonly to: number;
}

/**
 * Brings the schema to `target`, up or down, in one transaction a step. Records stay unchanged from
 * schema 1 on. A target of 0 removes all of them.
 * @throws SignerError LEDGER_INCONSISTENT if a newer program made the database
 */
export async function migrate(
  database: Database,
  target = LATEST_SCHEMA,
): Promise<MigrationResult> {
  const script = 'CREATE TABLE IF NOT EXISTS migrations (number {integer} PRIMARY KEY);';
  await database.write((sql) => sql.script(spelled(sql, script)));
  let from: number | undefined;
  for (;;) {
    const before = await database.write((sql) => step(sql, target), { long: true });
    from ??= before;
    if (before === target) return { from, to: target };
  }
}

/** Takes one step towards `target`. Returns the schema before it. */
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
