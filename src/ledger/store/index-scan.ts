// SPDX-License-Identifier: Apache-2.0
/** Chooses the index that a query scans. */
import type { SqlValue } from '../database/database.ts';
import type { RecordBody } from '../records/record.ts';
import { TERM_KINDS, type SearchTerm } from '../records/terms.ts';

/** A query. A record must meet all given conditions. */
export interface RecordQuery {
  readonly terms: readonly SearchTerm[];
  /** Kinds of records. Default: all. */
  readonly kinds?: readonly RecordBody['record']['kind'][];
  /** Range of the append time in milliseconds since 1970; `until` is exclusive. */
  readonly since?: number;
  readonly until?: number;
  /** Range of the certificate's expiry in milliseconds since 1970; `expiresBefore` is exclusive. */
  readonly expiresAfter?: number;
  readonly expiresBefore?: number;
  /** Whether to return the oldest first, regardless of the conditions. */
  readonly oldestFirst?: boolean;
  /** Last record of the previous page. */
  readonly after?: RecordCursor;
  /** Records of a page, at least 1. */
  readonly limit: number;
}

/** A place in the order of a query. It stays valid when its record is removed. */
export interface RecordCursor {
  readonly id: number;
  /** Expiry of its certificate, in milliseconds since 1970. */
  readonly notAfter?: number;
}

/** SQL with question marks, and their values. */
export type SqlCondition = readonly [text: string, values: readonly SqlValue[]];

/** A scan of an index: its range, and the conditions on the records that it yields. */
export interface IndexScan {
  /** Table with the alias `w`. The records have the alias `r`. */
  readonly from: string;
  readonly within: readonly SqlCondition[];
  readonly conditions: readonly SqlCondition[];
  readonly order: (alias: 'w' | 'r') => string;
  readonly next: (after: RecordCursor) => SqlCondition;
}

/**
 * Chooses the index of the most selective term. If the query bounds the expiry and has only common
 * terms, it chooses the index of the expiry. Without terms it chooses the index of one kind, else
 * the order of appending. The other terms are looked up for each record of the scan.
 */
export function indexScanOf(query: RecordQuery): IndexScan {
  const [first, ...rest] = query.terms.toSorted((a, b) => TERM_KINDS[a.kind] - TERM_KINDS[b.kind]);
  const isOfExpiry = query.expiresAfter !== undefined || query.expiresBefore !== undefined;
  const isCommon = first === undefined || TERM_KINDS[first.kind] >= TERM_KINDS.user;
  if (isOfExpiry && isCommon && query.oldestFirst !== true) return byExpiry(query);
  if (first === undefined) return byAppending(query);
  return {
    from: 'terms',
    within: [['w.kind = ? AND w.value = ?', pairOf(first)], ...appendedWithin('w', query)],
    conditions: [...rest.map(hasTerm), ...kindsOf(query), ...expiryOf('r', query)],
    ...inOrder(query.oldestFirst === true),
  };
}

/** Scans all records, or all of one kind. */
function byAppending(query: RecordQuery): IndexScan {
  const [kind, ...others] = query.kinds ?? [];
  const isOne = kind !== undefined && others.length === 0;
  const ofKind: readonly SqlCondition[] = isOne ? [['w.kind = ?', [kind]]] : [];
  return {
    from: 'records',
    within: [...ofKind, ...appendedWithin('w', query)],
    conditions: [...(isOne ? [] : kindsOf(query)), ...expiryOf('r', query)],
    ...inOrder(query.oldestFirst === true),
  };
}

function inOrder(oldestFirst: boolean): Pick<IndexScan, 'order' | 'next'> {
  const [direction, beyond] = oldestFirst ? ['ASC', '>'] : ['DESC', '<'];
  return {
    // A term whose record was removed has no r.id.
    order: (alias) => (alias === 'w' ? `w.id ${direction}` : `scanned.id ${direction}`),
    next: ({ id }) => [`w.id ${beyond} ?`, [id]],
  };
}

function byExpiry(query: RecordQuery): IndexScan {
  return {
    from: 'records',
    within: [['w.not_after IS NOT NULL', []], ...expiryOf('w', query)],
    conditions: [...query.terms.map(hasTerm), ...kindsOf(query), ...appendedWithin('r', query)],
    order: (alias) => `${alias}.not_after, ${alias}.id`,
    next: ({ id, notAfter = 0 }) => ['(w.not_after, w.id) > (?, ?)', [notAfter, id]],
  };
}

function hasTerm(term: SearchTerm): SqlCondition {
  return [
    'EXISTS (SELECT 1 FROM terms o WHERE o.kind = ? AND o.value = ? AND o.id = r.id)',
    pairOf(term),
  ];
}

function pairOf({ kind, value }: SearchTerm): readonly SqlValue[] {
  return [TERM_KINDS[kind], value];
}

function kindsOf({ kinds }: RecordQuery): readonly SqlCondition[] {
  return kinds === undefined ? [] : [[`r.kind IN (${kinds.map(() => '?').join(', ')})`, kinds]];
}

function expiryOf(
  alias: 'w' | 'r',
  { expiresAfter, expiresBefore }: RecordQuery,
): readonly SqlCondition[] {
  return [
    ...bound(`${alias}.not_after >= ?`, expiresAfter),
    ...bound(`${alias}.not_after < ?`, expiresBefore),
  ];
}

/** Bounds the ids by a time, because times never decrease from one id to the next. */
const FIRST_SINCE =
  'SELECT COALESCE((SELECT s.id FROM records s WHERE s.at >= ? ORDER BY s.at, s.id LIMIT 1), 9007199254740991)';

function appendedWithin(alias: 'w' | 'r', { since, until }: RecordQuery): readonly SqlCondition[] {
  return [
    ...bound(`${alias}.id >= (${FIRST_SINCE})`, since),
    ...bound(`${alias}.id < (${FIRST_SINCE})`, until),
  ];
}

function bound(text: string, value: number | undefined): readonly SqlCondition[] {
  return value === undefined ? [] : [[text, [value]]];
}
