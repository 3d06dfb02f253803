// SPDX-License-Identifier: Apache-2.0
/** Finds records by what is known of them. */
import { numberOf, bytesOf, type SqlRow, type Sql, type SqlValue } from '../database/database.ts';
import { readBody, type RecordBody } from '../records/record.ts';
import { TERM_KINDS, type SearchTerm, type TermKind } from '../records/terms.ts';
import { placeOf, type LedgerPlace } from './ids.ts';

/** What is asked for; everything that is given must hold. */
export interface RecordQuery {
  readonly terms: readonly SearchTerm[];
  /** Kinds of records; all if absent. */
  readonly kinds?: readonly RecordBody['record']['kind'][];
  /** When they were appended: milliseconds since 1970, `until` exclusive. */
  readonly since?: number;
  readonly until?: number;
  /** When the certificate expires: milliseconds since 1970, `expiresBefore` exclusive. */
  readonly expiresAfter?: number;
  readonly expiresBefore?: number;
  /** The id of the last record of the page before. */
  readonly before?: number;
  /** Records a page. */
  readonly limit: number;
}

/** A record as it is kept. */
export interface StoredRecord extends LedgerPlace {
  readonly id: number;
  readonly salt: Uint8Array;
  /** Canonical bytes of a RecordBody. */
  readonly body: Uint8Array;
}

/** The records that a query asks for, the newest first; where only the expiry is asked for, the first to expire first. */
export async function findRecords(sql: Sql, query: RecordQuery): Promise<readonly StoredRecord[]> {
  const { text, values } = statementOf(query);
  return (await sql.all(text, values)).map(recordOf);
}

/** A record by its id. */
export async function recordAt(sql: Sql, id: number): Promise<StoredRecord | undefined> {
  const [row] = await sql.all('SELECT id, salt, body FROM records WHERE id = ?', [id]);
  return row === undefined ? undefined : recordOf(row);
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

interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Which index is walked, in which order, and from where on the next page goes. */
interface Walk {
  readonly from: string;
  readonly conditions: readonly Condition[];
  readonly order: string;
  /** The column by which records are ordered as they were appended. */
  readonly id: string;
  readonly next: Condition | undefined;
}

type Condition = readonly [text: string, values: readonly SqlValue[]];

/**
 * Walks the index of the most selective term, else of the expiry, else of the order of appending. Other terms are
 * looked up for each record that it gives.
 */
function walkOf({ terms, before, expiresAfter, expiresBefore }: RecordQuery): Walk {
  const [first, ...rest] = terms.toSorted((a, b) => numberOfKind(a) - numberOfKind(b));
  if (first !== undefined) {
    return {
      from: 'terms t JOIN records r ON r.id = t.id',
      conditions: [
        ['t.kind = ? AND t.value = ?', pairOf(first)],
        ...rest.map((term): Condition => [`EXISTS (${LOOKED_UP})`, pairOf(term)]),
      ],
      order: 't.id DESC',
      id: 't.id',
      next: before === undefined ? undefined : ['t.id < ?', [before]],
    };
  }
  const walk = { from: 'records r', conditions: [], id: 'r.id' };
  if (expiresAfter === undefined && expiresBefore === undefined) {
    const next: Condition | undefined = before === undefined ? undefined : ['r.id < ?', [before]];
    return { ...walk, order: 'r.id DESC', next };
  }
  const next: Condition | undefined =
    before === undefined ? undefined : [`(r.not_after, r.id) > ((${EXPIRY}), ?)`, [before, before]];
  return { ...walk, order: 'r.not_after, r.id', next };
}

const EXPIRY = 'SELECT e.not_after FROM records e WHERE e.id = ?';

function statementOf(query: RecordQuery): Statement {
  const { from, conditions, order, id, next } = walkOf(query);
  const all: readonly Condition[] = [
    ...conditions,
    ...(next === undefined ? [] : [next]),
    ...kindsOf(query),
    ...bound('r.not_after >= ?', query.expiresAfter),
    ...bound('r.not_after < ?', query.expiresBefore),
    ...bound(`${id} >= (${FIRST_SINCE})`, query.since),
    ...bound(`${id} < (${FIRST_SINCE})`, query.until),
  ];
  const where = all.length === 0 ? '' : `WHERE ${all.map(([text]) => text).join(' AND ')}`;
  return {
    text: `SELECT r.id, r.salt, r.body FROM ${from} ${where} ORDER BY ${order} LIMIT ?`,
    values: [...all.flatMap(([, values]) => values), query.limit],
  };
}

const LOOKED_UP = 'SELECT 1 FROM terms o WHERE o.kind = ? AND o.value = ? AND o.id = r.id';

/** Times never fall from one id to the next: a time becomes a bound of the index that is walked. */
const FIRST_SINCE =
  'SELECT COALESCE((SELECT s.id FROM records s WHERE s.at >= ? ORDER BY s.at, s.id LIMIT 1), 9007199254740991)';

function bound(text: string, value: number | undefined): readonly Condition[] {
  return value === undefined ? [] : [[text, [value]]];
}

function kindsOf({ kinds }: RecordQuery): readonly Condition[] {
  return kinds === undefined ? [] : [[`r.kind IN (${kinds.map(() => '?').join(', ')})`, kinds]];
}

function numberOfKind({ kind }: { readonly kind: TermKind }): number {
  return TERM_KINDS[kind];
}

function pairOf(term: SearchTerm): readonly SqlValue[] {
  return [numberOfKind(term), term.value];
}
