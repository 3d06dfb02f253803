// SPDX-License-Identifier: Apache-2.0
/** Finds records in pages. Each call reads a bounded number of rows, whatever the query. */
import { sameBytes } from '#base/bytes.ts';
import { bytesOf, numberOf } from '../database/database.ts';
import type { SqlRow, Sql, SqlValue } from '../database/database.ts';
import { readBody, type RecordBody } from '../records/record.ts';
import { inconsistent } from '../log/tiles.ts';
import { entryOf } from '../records/entry.ts';
import { findable, TERM_KINDS } from '../records/terms.ts';
import { placeOf, type LedgerPlace } from '../records/ids.ts';
import { entriesOf } from './logs.ts';
import {
  indexScanOf,
  type SqlCondition,
  type RecordCursor,
  type RecordQuery,
  type IndexScan,
} from './index-scan.ts';

/** A record as it is stored. */
export interface StoredRecord extends LedgerPlace {
  readonly id: number;
  readonly salt: Uint8Array;
  /** Canonical bytes of a RecordBody. */
  readonly body: Uint8Array;
}

/** One page of a query's records. */
export interface RecordPage {
  readonly records: readonly StoredRecord[];
  /**
   * Start of the next page; absent at the end. A page before the last may have few records, or
   * none.
   */
  readonly next?: RecordCursor;
}

/**
 * Index rows that one call scans: some 30 ms. If few of them match, the query continues with the
 * next page.
 */
const MAX_SCANNED = 10_000;
/** First step of a scan with conditions. If most rows match, a page needs no more. */
const FIRST_SCANNED = 250;
/** Bytes of the bodies of a page. A record may have megabytes. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Returns a page of a query's records, the newest first. A query that bounds the expiry and has no
 * selective term returns the first to expire first.
 */
export async function findRecords(sql: Sql, query: RecordQuery): Promise<RecordPage> {
  const scan = indexScanOf(query);
  const page = new Page(query);
  let scanned = 0;
  let together = scan.conditions.length === 0 ? query.limit + 1 : FIRST_SCANNED;
  for (;;) {
    const rows = await scanOn(sql, scan, page.after, together);
    if (!rows.every((row) => page.take(row))) return pageOf(sql, page.matches, page.after);
    scanned += rows.length;
    if (rows.length < together) return pageOf(sql, page.matches, undefined);
    if (scanned >= MAX_SCANNED) return pageOf(sql, page.matches, page.after);
    together = Math.min(together * 4, MAX_SCANNED - scanned);
  }
}

/** Collects matches until the page is full. */
class Page {
  readonly matches: Match[] = [];
  after: RecordCursor | undefined;
  readonly #limit: number;
  #bytes = 0;

  constructor({ limit, after }: RecordQuery) {
    this.#limit = limit;
    this.after = after;
  }

  /** Adds a row. Returns false if the row belongs to the next page. */
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

/** A row of the scanned index, without a size if its record does not match. */
interface Match extends RecordCursor {
  readonly size: number | undefined;
}

async function scanOn(
  sql: Sql,
  { from, within, order, conditions, next }: IndexScan,
  after: RecordCursor | undefined,
  limit: number,
): Promise<readonly Match[]> {
  const bounds = [...within, ...(after === undefined ? [] : [next(after)])];
  const text = `
    WITH scanned AS (SELECT w.id AS id FROM ${from} w ${clauseOf('WHERE', bounds)} ORDER BY ${order('w')} LIMIT ?)
    SELECT scanned.id AS id, r.not_after AS not_after,
      CASE WHEN r.id IS NOT NULL ${clauseOf('AND', conditions)} THEN length(r.body) END AS size
    FROM scanned LEFT JOIN records r ON r.id = scanned.id ORDER BY ${order('r')}`;
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

/** Returns a record by its id. */
export async function recordAt(sql: Sql, id: number): Promise<StoredRecord | undefined> {
  return (await recordsOf(sql, [id]))[0];
}

/** Results of one record at most: delivered, refused, abandoned. */
const RESULTS_OF_ONE = 3;

/**
 * Returns the records of certificates' results by the keys of the certificates' records, oldest
 * first. It bounds the results of each key, so that a component that appends many does not displace
 * those of others.
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

/**
 * Returns those of the certificates, by fingerprint, that were ever appended, even if their records
 * were erased.
 */
export async function recordedOf(
  sql: Sql,
  fingerprints: readonly string[],
): Promise<readonly string[]> {
  if (fingerprints.length === 0) return [];
  const places = fingerprints.map(() => '?').join(', ');
  const query = `SELECT DISTINCT id FROM terms
    WHERE kind = ${TERM_KINDS.fingerprint} AND value IN (${places})`;
  const ids = (await sql.all(query, fingerprints)).map((row) => numberOf(row, 'id'));
  const proven = await provenRecords(sql, ids);
  const recorded = new Set(proven.flatMap(({ record }) => fingerprintsIn(record)));
  return fingerprints.filter((each) => recorded.has(each));
}

function fingerprintsIn(record: RecordBody['record']): readonly string[] {
  return findable(record).terms.flatMap(({ kind, value }) =>
    kind === 'fingerprint' ? [value] : [],
  );
}

/** Returns records in the order of appending, starting after `after`. */
export async function recordsAfter(
  sql: Sql,
  after: number,
  limit: number,
): Promise<readonly StoredRecord[]> {
  const query = 'SELECT id, salt, body FROM records WHERE id > ? ORDER BY id LIMIT ?';
  return (await sql.all(query, [after, limit])).map(recordOf);
}

/** A record whose bytes match the hash in the log's entry. */
export interface ProvenRecord {
  readonly id: number;
  readonly record: RecordBody['record'];
  /** Time of the append, in milliseconds since 1970. */
  readonly at: number;
}

/** Ids of one statement. SQLite accepts 32,766 parameters. */
const READ_TOGETHER = 1_000;

/**
 * Returns the existing records with these ids, in order. Their contents come from their bytes,
 * which the log's entries prove, and not from the columns.
 * @throws SignerError LEDGER_INCONSISTENT if a record does not match its entry
 */
export async function provenRecords(
  sql: Sql,
  ids: readonly number[],
): Promise<readonly ProvenRecord[]> {
  const found: StoredRecord[] = [];
  for (let at = 0; at < ids.length; at += READ_TOGETHER) {
    found.push(...(await recordsOf(sql, ids.slice(at, at + READ_TOGETHER))));
  }
  const entries = await entriesOf(
    sql,
    found.map(({ id }) => id),
  );
  return found
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, log, index, salt, body }) => {
      const entry = entries.get(id);
      if (entry === undefined || !sameBytes(entryOf(salt, body), entry)) {
        throw inconsistent(
          `the record ${log}-${index} does not match its entry in the log; run countersign ledger verify`,
        );
      }
      const { appended, record } = readBody(body);
      return { id, record, at: Date.parse(appended.at) };
    });
}

/** Reads the contents of a record. */
export function contentsOf({ body }: Pick<StoredRecord, 'body'>): RecordBody {
  return readBody(body);
}

function recordOf(row: SqlRow): StoredRecord {
  const id = numberOf(row, 'id');
  return { id, ...placeOf(id), salt: bytesOf(row, 'salt'), body: bytesOf(row, 'body') };
}
