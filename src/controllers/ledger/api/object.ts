// SPDX-License-Identifier: Apache-2.0
/** A record as an object of the API. Pure. */
import { LEDGER_API } from '../../../api/signer/own-tls.ts';
import {
  contentsOf,
  idOfName,
  namespaceOf,
  type LedgerStore,
  type RecordBody,
  type Removal,
  type StoredRecord,
} from '../../../ledger/index.ts';
import { quote } from '../../../quote.ts';
import { failure, type ApiAnswer } from './answer.ts';
import { API_VERSION } from './discovery.ts';

/** What became of a certificate. */
export interface RecordResult {
  readonly outcome: 'delivered' | 'refused' | 'abandoned';
  readonly reason?: string;
  readonly at: string;
}

/** One record of the ledger. It cannot be written. */
export interface RecordObject {
  readonly apiVersion: string;
  readonly kind: 'Record';
  readonly metadata: {
    /** `<number of the log>-<index>`: `1-42`. */
    readonly name: string;
    /** Whose team it is for; absent where it is for none. */
    readonly namespace?: string;
    readonly creationTimestamp: string;
  };
  /** When it was appended, and by whom: as the ledger authenticated them. */
  readonly appended: RecordBody['appended'];
  readonly record: RecordBody['record'];
  /** Base64: with it and the record's canonical bytes the entry of the log can be computed. */
  readonly salt: string;
  readonly results?: readonly RecordResult[];
  /** C2SP tlog-proof, of one record; absent while no checkpoint covers it. */
  readonly proof?: string;
}

/** A page of records. */
export interface RecordList {
  readonly apiVersion: string;
  readonly kind: 'RecordList';
  readonly metadata: { readonly continue?: string };
  readonly items: readonly RecordObject[];
}

/** The name of the record with an id. */
export function nameOf({ log, index }: Pick<StoredRecord, 'log' | 'index'>): string {
  return `${log}-${index}`;
}

/** The answer where there is no record of this name, or it is another team's. */
export function notFound(name: string): ApiAnswer {
  return failure(404, `records.${LEDGER_API.group} ${quote(name)} not found`);
}

/** The record of a name, or its removal; nothing where there was never one. */
export async function recordNamed(
  store: Pick<LedgerStore, 'get' | 'removal'>,
  name: string,
): Promise<StoredRecord | Removal | undefined> {
  const id = idOfName(name);
  return id === undefined ? undefined : ((await store.get(id)) ?? store.removal(id));
}

/** @param results - of all records that are shown */
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

/** By the key of the record of the certificate. */
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
