// SPDX-License-Identifier: Apache-2.0
/**
 * Removes records and salts, and records the removal. The entries stay in the tree, so old proofs
 * stay valid.
 */
import type { SignerError } from '#base/errors.ts';
import { bytesOf, numberOf, type Sql } from '../database/database.ts';
import { REMOVALS, removalRows, TERMS, termRows } from '../database/tables.ts';
import { readBody, type ErasureRecord } from '../records/record.ts';
import { inconsistent } from '../log/tiles.ts';
import { findable, TERM_KINDS, type Findable } from '../records/terms.ts';
import { appendOwn, type AppendContext } from './append.ts';
import { idOf, placeOf, type LedgerPlace } from '../records/ids.ts';
import { provenRecords, type ProvenRecord } from './search.ts';

/**
 * A removal of old records whose certificates have expired, or of records with these ids and their
 * results.
 */
export type Erasure =
  RetentionErasure | { readonly reason: 'person'; readonly ids: readonly number[] };

/** A removal by retention. */
export interface RetentionErasure {
  readonly reason: 'retention';
  readonly appendedBefore: number;
  /** Earlier times by signer name, for the signer's records and the results of its certificates. */
  readonly bySigner?: ReadonlyMap<string, number>;
  /** Id at which the previous transaction stopped. */
  readonly after?: number | undefined;
}

/** Author and randomness of a removal. */
export interface Eraser extends AppendContext {
  /** Username, as the ledger authenticated it. */
  readonly by: string;
  /** 32 random bytes, which also form the record's key. */
  readonly salt: Uint8Array;
  /** Records that retention examines in one transaction at most. */
  readonly limit: number;
}

/** The result of a removal. */
export interface ErasureResult {
  readonly removed: number;
  /** Id at which the next transaction of retention continues. Absent when it is complete. */
  readonly next?: number;
  /** Place of the record of the removal. Absent if nothing was removed. */
  readonly record?: LedgerPlace;
}

/** The reason for a record's absence, and the record of its removal. */
export interface Removal {
  readonly reason: ErasureRecord['reason'];
  /** RFC 3339. */
  readonly at: string;
  /** Username, as the ledger authenticated it. */
  readonly by: string;
  readonly record: LedgerPlace;
}

/**
 * Removes records in the transaction of `sql`. It never removes records of removals, which tell
 * removed records from stolen ones.
 */
export async function eraseRecords(
  sql: Sql,
  erasure: Erasure,
  eraser: Eraser,
): Promise<ErasureResult> {
  const { found, ...rest } = await foundBy(sql, erasure, eraser);
  if (found.length === 0) return { removed: 0, ...rest };
  const ids = found.map(({ id }) => id);
  const key = `erased/${Buffer.from(eraser.salt).toString('hex')}`;
  const { reason } = erasure;
  const living = livingOf(found, eraser.now);
  const record: ErasureRecord = {
    key,
    kind: 'erased',
    reason,
    removed: rangesOf(ids),
    ...(living.length === 0 ? {} : { living }),
  };
  await sql.remove(TERMS, found.flatMap(termsIn));
  for (const { first, last } of spansOf(ids)) {
    await sql.all('DELETE FROM records WHERE id BETWEEN ? AND ?', [first, last]);
  }
  const place = await appendOwn(sql, { by: eraser.by, salt: eraser.salt, record }, eraser);
  await sql.insert(REMOVALS, removalRows(idOf(place), record));
  return { removed: ids.length, record: place, ...rest };
}

/** A record to remove, with its search terms. */
interface Removable extends ProvenRecord {
  readonly findable: Findable;
}

interface ErasureBatch extends Pick<ErasureResult, 'next'> {
  readonly found: readonly Removable[];
}

/**
 * Returns the records of an erasure, in order. Columns and terms only locate candidates. A record's
 * age and certificate come from its own bytes, which the log's entry proves.
 * @throws SignerError LEDGER_INCONSISTENT if columns and record contradict each other; then nothing
 * is removed
 */
async function foundBy(sql: Sql, erasure: Erasure, eraser: Eraser): Promise<ErasureBatch> {
  if (erasure.reason === 'retention') return oldOnes(sql, erasure, eraser);
  const named = (await provenRecords(sql, erasure.ids)).filter(isRemovable);
  const keys = named.flatMap(({ record }) => (record.kind === 'issued' ? [record.key] : []));
  const known = new Set(erasure.ids);
  const others = (await resultsOf(sql, keys)).filter((id) => !known.has(id));
  const results = (await provenRecords(sql, others)).filter(
    ({ record }) => record.kind === 'result' && keys.includes(record.of),
  );
  return { found: [...named, ...results].toSorted((a, b) => a.id - b.id).map(withFindable) };
}

async function oldOnes(
  sql: Sql,
  { appendedBefore, bySigner = new Map(), after = -1 }: RetentionErasure,
  { now, limit }: Eraser,
): Promise<ErasureBatch> {
  // The time never decreases, so this is also the order of the ids, and an index provides it.
  const query = `SELECT id FROM records WHERE at < ? AND id > ? AND (not_after IS NULL OR not_after < ?) AND kind <> 'erased' ORDER BY at, id LIMIT ?`;
  const rows = await sql.all(query, [appendedBefore, after, now, limit]);
  const ids = rows.map((row) => numberOf(row, 'id'));
  const old = (await provenRecords(sql, ids)).map(withFindable);
  const young = old.find(
    (each) => !isRemovable(each) || each.at >= appendedBefore || lives(each, now),
  );
  if (young !== undefined) throw contradictory(young);
  const signers = await signersOf(sql, old);
  const found = old.filter(
    ({ id, at }) => at < (bySigner.get(signers.get(id) ?? '') ?? appendedBefore),
  );
  const next = ids.length < limit ? undefined : ids.at(-1);
  return { found, ...(next === undefined ? {} : { next }) };
}

function contradictory({ id }: Removable): SignerError {
  const { log, index } = placeOf(id);
  return inconsistent(
    `the columns of the record ${log}-${index} allow its removal, but the record does not; run countersign ledger verify`,
  );
}

/**
 * Returns the signer of each record. A result belongs to its certificate's signer while that
 * certificate has a record.
 */
async function signersOf(
  sql: Sql,
  found: readonly Removable[],
): Promise<ReadonlyMap<number, string>> {
  const certificates = found.flatMap(({ record }) => (record.kind === 'result' ? [record.of] : []));
  const byKey = await signersByKey(sql, certificates);
  return new Map(
    found.flatMap(({ id, record }): [number, string][] => {
      const signer = record.kind === 'result' ? byKey.get(record.of) : signerIn(record);
      return signer === undefined ? [] : [[id, signer]];
    }),
  );
}

function signerIn(record: ProvenRecord['record']): string | undefined {
  return 'signer' in record ? record.signer.name : undefined;
}

async function signersByKey(
  sql: Sql,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0) return new Map();
  const query = `SELECT id FROM records WHERE record_key IN (${keys.map(() => '?').join(', ')})`;
  const ids = (await sql.all(query, keys)).map((row) => numberOf(row, 'id'));
  return new Map(
    (await provenRecords(sql, ids)).flatMap(({ record }): [string, string][] => {
      const signer = signerIn(record);
      return signer === undefined ? [] : [[record.key, signer]];
    }),
  );
}

function isRemovable({ record }: ProvenRecord): boolean {
  return record.kind !== 'erased';
}

function withFindable(proven: ProvenRecord): Removable {
  return { ...proven, findable: findable(proven.record) };
}

function lives({ findable: { notAfter } }: Removable, now: number): boolean {
  return notAfter !== undefined && notAfter >= now;
}

/** Returns the ids of possible results of these certificates. */
async function resultsOf(sql: Sql, keys: readonly string[]): Promise<readonly number[]> {
  if (keys.length === 0) return [];
  const query = `SELECT id FROM terms WHERE kind = ? AND value IN (${keys.map(() => '?').join(', ')})`;
  const rows = await sql.all(query, [TERM_KINDS.of, ...keys]);
  return rows.map((row) => numberOf(row, 'id'));
}

/**
 * Computes the terms from the record. An index of terms by records would make each record longer.
 */
function termsIn({ id, findable: { terms } }: Removable): ReturnType<typeof termRows> {
  return termRows(id, terms);
}

/** Returns the fingerprints of the removed records' certificates that have not expired. */
function livingOf(found: readonly Removable[], now: number): readonly string[] {
  const prints = found
    .filter((each) => lives(each, now))
    .flatMap((each) => each.findable.terms)
    .flatMap(({ kind, value }) => (kind === 'fingerprint' ? [value] : []));
  // Two records may have one certificate.
  return [...new Set(prints)];
}

/**
 * Returns the removal of the record with this id, or undefined if the record exists or no removal
 * names it. A row of the table proves nothing, so `verify` compares missing records with the
 * records of removals.
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

/**
 * Groups consecutive ids. No record lies between the ids of a span, so one statement may remove it.
 */
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
