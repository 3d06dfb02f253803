// SPDX-License-Identifier: Apache-2.0
/** Removes records and salts, and records that it did. Their entries stay in the tree, and old proofs hold. */
import { bytesOf, numberOf, textOf, type Sql, type SqlRow } from '../database/database.ts';
import { REMOVALS, removalRows, TERMS, termRows } from '../database/migrations.ts';
import { readBody, type ErasureRecord } from '../records/record.ts';
import { findable, TERM_KINDS } from '../records/terms.ts';
import { appendOwn, type AppendContext } from './append.ts';
import { idOf, placeOf, type LedgerPlace } from '../records/ids.ts';

/** What is removed: records that are old and of no living certificate, or records with these ids and their results. */
export type Erasure =
  | { readonly reason: 'retention'; readonly appendedBefore: number }
  | { readonly reason: 'person'; readonly ids: readonly number[] };

/** By whom, and with which randomness. */
export interface Eraser extends AppendContext {
  /** As the ledger authenticated them. */
  readonly by: string;
  /** 32 random bytes, which also make the record's key. */
  readonly salt: Uint8Array;
  /** Records that retention removes in this transaction at most; the rest are for the next one. */
  readonly limit: number;
}

/** What a removal has removed. */
export interface Erased {
  /** Below the limit when nothing is left. */
  readonly removed: number;
  /** Where the record of the removal is; absent where nothing was removed. */
  readonly record?: LedgerPlace;
}

/** Why a record is not there, and where the log says so. */
export interface Removal {
  readonly reason: ErasureRecord['reason'];
  /** RFC 3339. */
  readonly at: string;
  /** As the ledger authenticated them. */
  readonly by: string;
  readonly record: LedgerPlace;
}

/**
 * Removes records in the transaction of `sql`. Records of removals are never removed: without them nobody could tell
 * what was removed from what was stolen.
 */
export async function eraseRecords(sql: Sql, erasure: Erasure, eraser: Eraser): Promise<Erased> {
  const rows = await rowsOf(sql, erasure, eraser);
  if (rows.length === 0) return { removed: 0 };
  const ids = rows.map((row) => numberOf(row, 'id'));
  const key = `erased/${Buffer.from(eraser.salt).toString('hex')}`;
  const { reason } = erasure;
  const living = livingOf(rows, eraser.now);
  const record: ErasureRecord = {
    ...{ key, kind: 'erased', reason, removed: rangesOf(ids) },
    ...(living.length === 0 ? {} : { living }),
  };
  await sql.remove(TERMS, rows.flatMap(termsIn));
  for (const { first, last } of spansOf(ids)) {
    await sql.all('DELETE FROM records WHERE id BETWEEN ? AND ?', [first, last]);
  }
  const place = await appendOwn(sql, { by: eraser.by, salt: eraser.salt, record }, eraser);
  await sql.insert(REMOVALS, removalRows(idOf(place), record));
  return { removed: ids.length, record: place };
}

const COLUMNS = 'id, kind, not_after, body';

async function rowsOf(
  sql: Sql,
  erasure: Erasure,
  { now, limit }: Eraser,
): Promise<readonly SqlRow[]> {
  if (erasure.reason === 'retention') {
    // The time never falls: this is the order of the ids, too, and an index gives it.
    const query = `SELECT ${COLUMNS} FROM records WHERE at < ? AND (not_after IS NULL OR not_after < ?) AND kind <> 'erased' ORDER BY at, id LIMIT ?`;
    return inOrder(await sql.all(query, [erasure.appendedBefore, now, limit]));
  }
  const named = await rowsWith(sql, erasure.ids);
  const keys = named.flatMap((row) =>
    textOf(row, 'kind') === 'issued' ? [readBody(bytesOf(row, 'body')).record.key] : [],
  );
  const known = new Set(erasure.ids);
  const results = (await resultsOf(sql, keys)).filter((id) => !known.has(id));
  return inOrder([...named, ...(await rowsWith(sql, results))]);
}

/** A statement of SQLite has 32,766 parameters at most; a component may have appended more results of one certificate. */
const READ_TOGETHER = 1_000;

async function rowsWith(sql: Sql, ids: readonly number[]): Promise<readonly SqlRow[]> {
  const rows: SqlRow[] = [];
  for (let at = 0; at < ids.length; at += READ_TOGETHER) {
    const some = ids.slice(at, at + READ_TOGETHER);
    const places = some.map(() => '?').join(', ');
    const query = `SELECT ${COLUMNS} FROM records WHERE id IN (${places}) AND kind <> 'erased'`;
    rows.push(...(await sql.all(query, some)));
  }
  return rows;
}

/** The ids of what became of certificates. */
async function resultsOf(sql: Sql, keys: readonly string[]): Promise<readonly number[]> {
  if (keys.length === 0) return [];
  const query = `SELECT id FROM terms WHERE kind = ? AND value IN (${keys.map(() => '?').join(', ')})`;
  const rows = await sql.all(query, [TERM_KINDS.of, ...keys]);
  return rows.map((row) => numberOf(row, 'id'));
}

function inOrder(rows: readonly SqlRow[]): readonly SqlRow[] {
  return rows.toSorted((a, b) => numberOf(a, 'id') - numberOf(b, 'id'));
}

/** The terms follow from the record: an index of terms by records would make each record longer. */
function termsIn(row: SqlRow): ReturnType<typeof termRows> {
  return termRows(numberOf(row, 'id'), findable(readBody(bytesOf(row, 'body')).record).terms);
}

/** Fingerprints of certificates that have not expired: they had a record. */
function livingOf(rows: readonly SqlRow[], now: number): readonly string[] {
  const prints = rows
    .filter((row) => row['not_after'] !== null && numberOf(row, 'not_after') >= now)
    .flatMap((row) => findable(readBody(bytesOf(row, 'body')).record).terms)
    .flatMap(({ kind, value }) => (kind === 'fingerprint' ? [value] : []));
  // Two records may have one certificate.
  return [...new Set(prints)];
}

/**
 * Why there is no record with this id; nothing where there is one, or no removal of it. A row of a table proves nothing:
 * `verify` compares what is missing with the records of removals.
 */
export async function removalOf(sql: Sql, id: number): Promise<Removal | undefined> {
  const { log, index } = placeOf(id);
  const query =
    'SELECT last, by_record FROM removals WHERE log = ? AND first <= ? ORDER BY first DESC LIMIT 1';
  const [row] = await sql.all(query, [log, index]);
  if (row === undefined || numberOf(row, 'last') < index) return undefined;
  const by = numberOf(row, 'by_record');
  const [found] = await sql.all('SELECT body FROM records WHERE id = ?', [by]);
  if (found === undefined) return undefined;
  const { appended, record } = readBody(bytesOf(found, 'body'));
  if (record.kind !== 'erased') return undefined;
  return { reason: record.reason, ...appended, record: placeOf(by) };
}

interface Span {
  readonly first: number;
  readonly last: number;
}

/** Ids that follow one another. No record is between the ids of a span, so it may be removed as one. */
function spansOf(ids: readonly number[]): readonly Span[] {
  const spans: { first: number; last: number }[] = [];
  for (const id of ids) {
    const open = spans.at(-1);
    if (open?.last === id - 1) open.last = id;
    else spans.push({ first: id, last: id });
  }
  return spans;
}

function rangesOf(ids: readonly number[]): ErasureRecord['removed'] {
  return spansOf(ids).map(({ first, last }) => {
    const { log, index } = placeOf(first);
    return { log, from: index, to: index + last - first };
  });
}
