// SPDX-License-Identifier: Apache-2.0
/** The tables of the ledger and their columns. `migrations.ts` creates them, step by step. */
import type { ErasureRecord } from '../records/record.ts';
import { TERM_KINDS, type findable } from '../records/terms.ts';
import type { Sql, SqlColumns } from './database.ts';

/**
 * `id` is the number of the log times 2^40 plus the index, so it orders records as they were
 * appended. `at` is the ledger's own time in milliseconds and never decreases.
 */
export const LOG = `
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
export const NO_LOG =
  'DROP TABLE records; DROP TABLE checkpoints; DROP TABLE tiles; DROP TABLE logs;';

export const INDEX = `
  CREATE TABLE terms (
    kind {integer} NOT NULL, value TEXT NOT NULL, id {integer} NOT NULL, PRIMARY KEY (kind, value, id)
  ) {narrow};
  CREATE INDEX records_not_after ON records (not_after, id) WHERE not_after IS NOT NULL;
`;

/**
 * The ranges of a log's indexes whose records were removed, and the id of the record of the
 * removal. No two ranges overlap.
 */
export const REMOVED = `
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

/** The columns of terms. */
export const TERMS: SqlColumns = { table: 'terms', names: ['kind', 'value', 'id'] };

/** Returns the rows of a record of a removal. */
export function removalRows(
  id: number,
  { removed }: ErasureRecord,
): readonly (readonly number[])[] {
  return removed.map(({ log, from, to }) => [log, from, to, id]);
}

/** Returns the rows of a record's terms. */
export function termRows(
  id: number,
  terms: ReturnType<typeof findable>['terms'],
): readonly (readonly (string | number)[])[] {
  return terms.map(({ kind, value }) => [TERM_KINDS[kind], value, id]);
}

const SPELLINGS = {
  sqlite: { '{integer}': 'INTEGER', '{bytes}': 'BLOB', '{narrow}': 'WITHOUT ROWID' },
  postgres: { '{integer}': 'BIGINT', '{bytes}': 'BYTEA', '{narrow}': '' },
} as const;

/** Returns SQL with the types of a dialect in place of the words in braces. */
export function spelled({ dialect }: Sql, text: string): string {
  return Object.entries(SPELLINGS[dialect]).reduce(
    (script, [word, spelling]) => script.replaceAll(word, spelling),
    text,
  );
}
