// SPDX-License-Identifier: Apache-2.0
/** Finds records by what is known of them, in pages: whatever is asked for, a call reads so many rows at most. */
import { bytesOf, numberOf, textOf } from '../database/database.ts';
import type { SqlRow, Sql, SqlValue } from '../database/database.ts';
import { readBody, type RecordBody } from '../records/record.ts';
import { TERM_KINDS } from '../records/terms.ts';
import { placeOf, type LedgerPlace } from '../records/ids.ts';
import {
  walkOf,
  type SqlCondition,
  type RecordCursor,
  type RecordQuery,
  type Walk,
} from './walk.ts';

/** A record as it is kept. */
export interface StoredRecord extends LedgerPlace {
  readonly id: number;
  readonly salt: Uint8Array;
  /** Canonical bytes of a RecordBody. */
  readonly body: Uint8Array;
}

/** Some of the records that a query asks for. */
export interface RecordPage {
  readonly records: readonly StoredRecord[];
  /** Where the next page begins; absent at the end. A page with a next one may have few records, or none. */
  readonly next?: RecordCursor;
}

/** Rows of an index that one call walks: some 30 ms. A query that finds few of them goes on with the next page. */
const MOST_WALKED = 10_000;
/** What a walk with conditions begins with: where most rows fit, a page needs no more. */
const FIRST_WALKED = 250;
/** Of the bodies of a page: a record may have megabytes. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * A page of the records that a query asks for, the newest first; where the expiry is asked for and nothing that few
 * records have, the first to expire first.
 */
export async function findRecords(sql: Sql, query: RecordQuery): Promise<RecordPage> {
  const walk = walkOf(query);
  const page = new Page(query);
  let walked = 0;
  let together = walk.conditions.length === 0 ? query.limit + 1 : FIRST_WALKED;
  for (;;) {
    const rows = await walkOn(sql, walk, page.after, together);
    if (!rows.every((row) => page.take(row))) return pageOf(sql, page.matches, page.after);
    walked += rows.length;
    if (rows.length < together) return pageOf(sql, page.matches, undefined);
    if (walked >= MOST_WALKED) return pageOf(sql, page.matches, page.after);
    together = Math.min(together * 4, MOST_WALKED - walked);
  }
}

/** Gathers matches until there is no room for more. */
class Page {
  readonly matches: Match[] = [];
  after: RecordCursor | undefined;
  readonly #limit: number;
  #bytes = 0;

  constructor({ limit, after }: RecordQuery) {
    this.#limit = limit;
    this.after = after;
  }

  /** False if the row is for the next page. */
  take(row: Match): boolean {
    const { size, ...cursor } = row;
    if (size !== undefined) {
      const isFull = this.matches.length === this.#limit || this.#bytes + size > PAGE_BYTES;
      if (isFull && this.matches.length > 0) return false;
      this.#bytes += size;
      this.matches.push(row);
    }
    this.after = cursor;
    return true;
  }
}

/** A row of the walked index; without a size if its record does not match. */
interface Match extends RecordCursor {
  readonly size: number | undefined;
}

async function walkOn(
  sql: Sql,
  { from, within, order, conditions, next }: Walk,
  after: RecordCursor | undefined,
  limit: number,
): Promise<readonly Match[]> {
  const bounds = [...within, ...(after === undefined ? [] : [next(after)])];
  const text = `
    WITH walked AS (SELECT w.id AS id FROM ${from} w ${clauseOf('WHERE', bounds)} ORDER BY ${order('w')} LIMIT ?)
    SELECT walked.id AS id, r.not_after AS not_after,
      CASE WHEN r.id IS NOT NULL ${clauseOf('AND', conditions)} THEN length(r.body) END AS size
    FROM walked LEFT JOIN records r ON r.id = walked.id ORDER BY ${order('r')}`;
  const values = [...bounds.flatMap(valuesOf), limit, ...conditions.flatMap(valuesOf)];
  return (await sql.all(text, values)).map(matchOf);
}

function clauseOf(word: string, conditions: readonly SqlCondition[]): string {
  const [first, ...rest] = conditions.map(([text]) => text);
  return first === undefined ? '' : `${word} ${[first, ...rest].join(' AND ')}`;
}

function valuesOf([, values]: SqlCondition): readonly SqlValue[] {
  return values;
}

function matchOf(row: SqlRow): Match {
  const { not_after: notAfter, size } = row;
  return {
    id: numberOf(row, 'id'),
    ...(typeof notAfter === 'number' ? { notAfter } : {}),
    size: typeof size === 'number' ? size : undefined,
  };
}

async function pageOf(
  sql: Sql,
  matches: readonly Match[],
  next: RecordCursor | undefined,
): Promise<RecordPage> {
  const ids = matches.map(({ id }) => id);
  const found = new Map((await recordsOf(sql, ids)).map((each) => [each.id, each]));
  const records = ids.flatMap((id) => found.get(id) ?? []);
  return next === undefined ? { records } : { records, next };
}

async function recordsOf(sql: Sql, ids: readonly number[]): Promise<readonly StoredRecord[]> {
  if (ids.length === 0) return [];
  const places = ids.map(() => '?').join(', ');
  const rows = await sql.all(`SELECT id, salt, body FROM records WHERE id IN (${places})`, ids);
  return rows.map(recordOf);
}

/** A record by its id. */
export async function recordAt(sql: Sql, id: number): Promise<StoredRecord | undefined> {
  return (await recordsOf(sql, [id]))[0];
}

/** Results of one record: delivered, refused, abandoned. */
const RESULTS_OF_ONE = 3;

/**
 * The records of what became of certificates, by the keys of their records; oldest first. Of each key the first of them: a
 * component that appends many of its own takes no room from those of others.
 */
export async function resultsOf(
  sql: Sql,
  keys: readonly string[],
): Promise<readonly StoredRecord[]> {
  if (keys.length === 0) return [];
  const places = keys.map(() => '?').join(', ');
  const numbered = `SELECT id, ROW_NUMBER() OVER (PARTITION BY value ORDER BY id) AS nth
    FROM terms WHERE kind = ${TERM_KINDS.of} AND value IN (${places})`;
  const query = `SELECT id FROM (${numbered}) AS numbered WHERE nth <= ${RESULTS_OF_ONE} ORDER BY id`;
  const rows = await sql.all(query, keys);
  const found = await recordsOf(
    sql,
    rows.map((row) => numberOf(row, 'id')),
  );
  return found.toSorted((a, b) => a.id - b.id);
}

/** Those of the certificates, by fingerprint, that were appended, also where their records were erased. */
export async function recordedOf(
  sql: Sql,
  fingerprints: readonly string[],
): Promise<readonly string[]> {
  if (fingerprints.length === 0) return [];
  const places = fingerprints.map(() => '?').join(', ');
  const query = `SELECT DISTINCT t.value AS value FROM terms t JOIN records r ON r.id = t.id
    WHERE t.kind = ${TERM_KINDS.fingerprint} AND t.value IN (${places})`;
  return (await sql.all(query, fingerprints)).map((row) => textOf(row, 'value'));
}

/** Records in the order in which they were appended, from the one after `after` on. */
export async function recordsAfter(
  sql: Sql,
  after: number,
  limit: number,
): Promise<readonly StoredRecord[]> {
  const query = 'SELECT id, salt, body FROM records WHERE id > ? ORDER BY id LIMIT ?';
  return (await sql.all(query, [after, limit])).map(recordOf);
}

/** What a record says. */
export function contentsOf({ body }: Pick<StoredRecord, 'body'>): RecordBody {
  return readBody(body);
}

function recordOf(row: SqlRow): StoredRecord {
  const id = numberOf(row, 'id');
  return { id, ...placeOf(id), salt: bytesOf(row, 'salt'), body: bytesOf(row, 'body') };
}
