// SPDX-License-Identifier: Apache-2.0
/** Appends each record once. */
import { sameBytes } from '#base/bytes.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { bytesOf, numberOf, textOf, type Sql, type SqlValue } from '../database/database.ts';
import { TERMS, termRows } from '../database/tables.ts';
import { canonicalJson } from '../records/canonical.ts';
import { bodyBytes, entryOf } from '../records/entry.ts';
import { comparable } from '../records/fields.ts';
import { readBody, type LedgerRecord, type RecordBody } from '../records/record.ts';
import { findable, type Findable } from '../records/terms.ts';
import { idOf, placeOf, type LedgerPlace } from '../records/ids.ts';
import { appendEntries, openLog, type LogNaming, type StoredLog } from './logs.ts';

/** A record to append. */
export interface AppendRequest {
  readonly record: LedgerRecord;
  /** Username of the sender, as the ledger authenticated it. */
  readonly by: string;
  /** 32 random bytes. */
  readonly salt: Uint8Array;
}

/** The place of a record and whether it was there before, or the error for this record alone. */
export type AppendResult = (LedgerPlace & { readonly known: boolean }) | SignerError;

/** Parameters of an append. */
export interface AppendContext {
  readonly naming: LogNaming;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Appends a batch in the transaction of `sql`. It skips a record whose key is there already with
 * the same contents.
 * @returns a result for each record, in order
 * @throws SignerError LEDGER_UNAVAILABLE or LEDGER_INCONSISTENT; then nothing was appended
 */
export async function appendBatch(
  sql: Sql,
  batch: readonly AppendRequest[],
  { naming, now }: AppendContext,
): Promise<readonly AppendResult[]> {
  const [known, log] = await sql.both(
    () => knownRecords(sql, batch),
    () => openLog(sql, naming, now),
  );
  const fresh = new Map<string, PreparedRecord>();
  const results = batch.map((each): AppendResult => {
    const { key } = each.record;
    const stored = known.get(key);
    if (stored !== undefined) return compared(stored, each.record);
    const earlier = fresh.get(key);
    if (earlier !== undefined) return compared(earlier, each.record);
    const index = log.size + fresh.size;
    const prepared = attempt(() => prepare(each, { log: log.number, index }, log.latest));
    if (prepared instanceof SignerError) return prepared;
    fresh.set(key, prepared);
    return { ...prepared.place, known: false };
  });
  await keep(sql, log, [...fresh.values()]);
  return results;
}

/** A record that is stored, or will be by this transaction. */
interface PlacedRecord {
  readonly place: LedgerPlace;
  readonly record: RecordBody['record'];
}

interface PreparedRecord extends PlacedRecord {
  readonly body: Uint8Array;
  readonly salt: Uint8Array;
  readonly findable: Findable;
}

function prepare(
  {
    record,
    by,
    salt,
  }: Pick<AppendRequest, 'by' | 'salt'> & { readonly record: RecordBody['record'] },
  place: LedgerPlace,
  now: number,
): PreparedRecord {
  const body = bodyBytes({ appended: { at: new Date(now).toISOString(), by }, record });
  return { place, record, salt, body, findable: findable(record) };
}

function compared({ place, record }: PlacedRecord, sent: LedgerRecord): AppendResult {
  if (isSame(record, sent)) return { ...place, known: true };
  const message = `another record with the same key is at index ${place.index} of log ${place.log}: nothing is appended in its place. One component has made two records of one key`;
  return new SignerError({ code: 'LEDGER_CONFLICT', disposition: 'fail', message });
}

/**
 * Reports whether two records are the same. It ignores omittable fields, whose setting may change
 * between an append and its repetition.
 */
function isSame(record: RecordBody['record'], sent: LedgerRecord): boolean {
  if (record.kind === 'erased') return false;
  return sameBytes(canonicalJson(comparable(record)), canonicalJson(comparable(sent)));
}

async function knownRecords(
  sql: Sql,
  batch: readonly AppendRequest[],
): Promise<ReadonlyMap<string, PlacedRecord>> {
  if (batch.length === 0) return new Map();
  const places = batch.map(() => '?').join(', ');
  const query = `SELECT id, record_key, body FROM records WHERE record_key IN (${places})`;
  const rows = await sql.all(
    query,
    batch.map(({ record }) => record.key),
  );
  return new Map(
    rows.map((row) => [
      textOf(row, 'record_key'),
      { place: placeOf(numberOf(row, 'id')), record: readBody(bytesOf(row, 'body')).record },
    ]),
  );
}

const RECORDS = {
  table: 'records',
  names: ['id', 'record_key', 'kind', 'at', 'not_after', 'salt', 'body'],
};

async function keep(sql: Sql, log: StoredLog, records: readonly PreparedRecord[]): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map(({ place, record, salt, body, findable }): readonly SqlValue[] => [
    idOf(place),
    record.key,
    record.kind,
    log.latest,
    findable.notAfter ?? null,
    salt,
    body,
  ]);
  const terms = records.flatMap(({ place, findable }) => termRows(idOf(place), findable.terms));
  const entries = records.map(({ salt, body }) => entryOf(salt, body));
  const index = (): Promise<void> => sql.insert(TERMS, terms);
  await sql.both(
    () => sql.insert(RECORDS, rows),
    () => sql.both(index, () => appendEntries(sql, log, entries)),
  );
}

/** Appends a record of the ledger's own, in the transaction of `sql`. */
export async function appendOwn(
  sql: Sql,
  own: Pick<AppendRequest, 'by' | 'salt'> & { readonly record: RecordBody['record'] },
  { naming, now }: AppendContext,
): Promise<LedgerPlace> {
  const log = await openLog(sql, naming, now);
  const prepared = prepare(own, { log: log.number, index: log.size }, log.latest);
  await keep(sql, log, [prepared]);
  return prepared.place;
}
