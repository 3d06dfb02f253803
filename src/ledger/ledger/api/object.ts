// SPDX-License-Identifier: Apache-2.0
import {
  contentsOf,
  idOfName,
  namespaceOf,
  type LedgerStore,
  type RecordBody,
  type Removal,
  type StoredRecord,
} from '#ledger/index.ts';
import { failure, type ApiAnswer } from './answer.ts';
import { API_VERSION } from './discovery.ts';
import * as messages from '../messages.ts';

/** A result of a certificate. */
export interface RecordResult {
  readonly outcome: 'delivered' | 'refused' | 'abandoned';
  readonly reason?: string;
  readonly at: string;
}

/** One record of the ledger. It is read-only. */
export interface RecordObject {
  readonly apiVersion: string;
  readonly kind: 'Record';
  readonly metadata: {
    /** `<number of the log>-<index>`: `1-42`. */
    readonly name: string;
    /** Namespace whose team the record belongs to. Absent if it belongs to none. */
    readonly namespace?: string;
    readonly creationTimestamp: string;
  };
  /** Time and author of the append, as the ledger authenticated the author. */
  readonly appended: RecordBody['appended'];
  readonly record: RecordBody['record'];
  /** Base64. Salt and the record's canonical bytes determine the entry of the log. */
  readonly salt: string;
  readonly results?: readonly RecordResult[];
  /** C2SP tlog-proof of a single record. Absent while no checkpoint covers it. */
  readonly proof?: string;
}

/** A page of records. */
export interface RecordList {
  readonly apiVersion: string;
  readonly kind: 'RecordList';
  readonly metadata: { readonly continue?: string };
  readonly items: readonly RecordObject[];
}

/** Returns the name of a record. */
export function nameOf({ log, index }: Pick<StoredRecord, 'log' | 'index'>): string {
  return `${log}-${index}`;
}

/** Returns the response for a missing record, or one of another namespace. */
export function notFound(name: string): ApiAnswer {
  return failure(404, messages.recordNotFound(name));
}

/** Returns the record with a name, or its removal, or undefined if it never existed. */
export async function recordNamed(
  store: Pick<LedgerStore, 'get' | 'removal'>,
  name: string,
): Promise<StoredRecord | Removal | undefined> {
  const id = idOfName(name);
  return id === undefined ? undefined : ((await store.get(id)) ?? store.removal(id));
}

/**
 * Returns a record as an object.
 * @param results - of all shown records
 */
export function objectOf(
  stored: StoredRecord,
  { appended, record }: RecordBody,
  results: ResultsByKey,
): RecordObject {
  const namespace = namespaceOf(record);
  const own = results.get(record.key);
  return {
    apiVersion: API_VERSION,
    kind: 'Record',
    metadata: {
      name: nameOf(stored),
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: `${appended.at.slice(0, 19)}Z`,
    },
    appended,
    record,
    salt: Buffer.from(stored.salt).toString('base64'),
    ...(own === undefined ? {} : { results: own }),
  };
}

/** Results by the key of the certificate's record. */
export type ResultsByKey = ReadonlyMap<string, readonly RecordResult[]>;

export function resultsByKey(stored: readonly StoredRecord[]): ResultsByKey {
  const results = stored.flatMap((each) => {
    const { record } = contentsOf(each);
    return record.kind === 'result' ? [record] : [];
  });
  const byKey = Map.groupBy(results, ({ of }) => of);
  return new Map(
    [...byKey].map(([key, found]) => [
      key,
      found.map(({ outcome, reason, at }) => ({
        outcome,
        ...(reason === undefined ? {} : { reason }),
        at,
      })),
    ]),
  );
}
