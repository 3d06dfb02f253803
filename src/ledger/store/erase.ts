// SPDX-License-Identifier: Apache-2.0
/** Removes records and salts, and records that it did. Their entries stay in the tree, and old proofs hold. */
import { bytesOf, numberOf, type Sql } from '../database/database.ts';
import { TERMS, termRows } from '../database/migrations.ts';
import { readBody, type ErasureRecord } from '../records/record.ts';
import { findable } from '../records/terms.ts';
import { appendOwn, type AppendContext } from './append.ts';
import { placeOf } from './ids.ts';

/** What is removed: records that are old and of no living certificate, or records with these ids. */
export type Erasure =
  | { readonly reason: 'retention'; readonly appendedBefore: number }
  | { readonly reason: 'person'; readonly ids: readonly number[] };

/** By whom, and with which randomness. */
export interface Eraser extends AppendContext {
  /** As the ledger authenticated them. */
  readonly by: string;
  /** 32 random bytes, which also make the record's key. */
  readonly salt: Uint8Array;
  /** Records that are removed in this transaction at most; the rest are for the next one. */
  readonly limit: number;
}

/**
 * Removes records in the transaction of `sql`. Records of removals are never removed: without them nobody could tell
 * what was removed from what was stolen.
 *
 * @returns how many records were removed; below the limit when nothing is left
 */
export async function eraseRecords(sql: Sql, erasure: Erasure, eraser: Eraser): Promise<number> {
  const ids = await idsOf(sql, erasure, eraser);
  if (ids.length === 0) return 0;
  const key = `erased/${Buffer.from(eraser.salt).toString('hex')}`;
  const { reason } = erasure;
  const record: ErasureRecord = { key, kind: 'erased', reason, removed: rangesOf(ids) };
  for (const { first, last } of spansOf(ids)) {
    await removeTerms(sql, first, last);
    await sql.all('DELETE FROM records WHERE id BETWEEN ? AND ?', [first, last]);
  }
  await appendOwn(sql, { by: eraser.by, salt: eraser.salt, record }, eraser);
  return ids.length;
}

async function idsOf(
  sql: Sql,
  erasure: Erasure,
  { now, limit }: Eraser,
): Promise<readonly number[]> {
  const query =
    erasure.reason === 'retention'
      ? `SELECT id FROM records WHERE at < ? AND (not_after IS NULL OR not_after < ?) AND kind <> 'erased'`
      : `SELECT id FROM records WHERE id IN (${erasure.ids.map(() => '?').join(', ')}) AND kind <> 'erased'`;
  const values = erasure.reason === 'retention' ? [erasure.appendedBefore, now] : erasure.ids;
  if (values.length === 0) return [];
  const rows = await sql.all(`${query} ORDER BY id LIMIT ?`, [...values, limit]);
  return rows.map((row) => numberOf(row, 'id'));
}

/** The terms follow from the record: an index of terms by records would make each record longer. */
async function removeTerms(sql: Sql, first: number, last: number): Promise<void> {
  const query = 'SELECT id, body FROM records WHERE id BETWEEN ? AND ?';
  const rows = await sql.all(query, [first, last]);
  const terms = rows.flatMap((row) =>
    termRows(numberOf(row, 'id'), findable(readBody(bytesOf(row, 'body')).record).terms),
  );
  await sql.remove(TERMS, terms);
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
