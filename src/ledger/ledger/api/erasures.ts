// SPDX-License-Identifier: Apache-2.0
import {
  certificateNotAfter,
  contentsOf,
  namespaceOf,
  SALT_BYTES,
  type LedgerStore,
  type LogNaming,
  type StoredRecord,
} from '#ledger/index.ts';
import type { Component } from '#component/contract.ts';
import type { Authorizer } from './access-review.ts';
import { failure, json, type ApiAnswer, type ApiRequest } from './answer.ts';
import { API_VERSION } from './discovery.ts';
import type { ApiCaller } from './front-proxy.ts';
import { nameOf, notFound, recordNamed } from './object.ts';
import * as messages from '../messages.ts';
import { LEDGER_SERIES } from '../metrics.ts';

/** A removal and its result. */
export interface ErasureObject {
  readonly apiVersion: string;
  readonly kind: 'Erasure';
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly creationTimestamp?: string;
  };
  readonly spec: {
    /** Names of records: `1-42`. The results of a certificate are removed with its record. */
    readonly records: readonly string[];
    /** Whether records of certificates that are still valid may be removed. */
    readonly living?: boolean;
  };
  readonly status?: {
    /** Number of removed records. It is less than requested if some were removed before. */
    readonly removed: number;
    /** Name of the record of the removal. */
    readonly record?: string;
  };
}

/** Dependencies of an erasure. */
export interface ErasingInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly mayErase: Authorizer;
  /**
   * Naming of the log for the record of the removal. Undefined while this replica does not lead.
   */
  readonly naming: LogNaming | undefined;
}

/** Records of one erasure at most. One transaction removes them, and appends wait for it. */
const MAX_ERASED = 500;

const PATH = new RegExp(
  `^/apis/${API_VERSION.replaceAll('.', '\\.')}(?:/namespaces/([^/]+))?/erasures/?$`,
);

/**
 * Removes the records that the body names, if the caller may. @throws SignerError
 * LEDGER_UNAVAILABLE, KubeError
 */
export async function eraseFor(
  init: ErasingInit,
  { url, body = '' }: ApiRequest,
  caller: ApiCaller,
): Promise<ApiAnswer> {
  const { pathname, searchParams } = new URL(url, 'https://ledger');
  const where = placeIn(pathname);
  if (where === undefined) return failure(405, messages.READ_AND_ERASE_ONLY);
  if (!(await init.mayErase(caller, where))) return forbidden(caller, where.namespace);
  const spec = specIn(body);
  if (typeof spec === 'string') return failure(400, spec);
  const { naming, component } = init;
  if (naming === undefined) return failure(503, messages.NOT_YET);
  const ids = await idsOf(init, spec, where.namespace);
  if ('status' in ids) return ids;
  const isDry = searchParams.getAll('dryRun').includes('All') || ids.length === 0;
  const status = isDry
    ? { removed: ids.length }
    : await erased(init, naming, { ids, by: caller.username });
  const name = status.record === undefined ? {} : { name: status.record };
  const creationTimestamp = `${new Date(component.clock()).toISOString().slice(0, 19)}Z`;
  const answer: ErasureObject = {
    apiVersion: API_VERSION,
    kind: 'Erasure',
    metadata: { ...name, ...where, creationTimestamp },
    spec,
    status,
  };
  return json(201, answer);
}

function placeIn(path: string): { readonly namespace?: string } | undefined {
  const found = PATH.exec(path);
  if (found === null) return undefined;
  return found[1] === undefined ? {} : { namespace: decodeURIComponent(found[1]) };
}

/** Returns the ids to remove, or the error response if one record must stay. */
async function idsOf(
  { store, component }: ErasingInit,
  { records, living: mayLive }: ErasureObject['spec'],
  namespace: string | undefined,
): Promise<readonly number[] | ApiAnswer> {
  const named = await namedRecords(store, records, namespace);
  if ('status' in named) return named;
  const living = named.records.filter(({ body }) => lives(body, component.clock()));
  if (living.length > 0 && mayLive !== true) return stillValid(living);
  return named.records.map(({ id }) => id);
}

async function erased(
  { component, store }: ErasingInit,
  naming: LogNaming,
  { ids, by }: { readonly ids: readonly number[]; readonly by: string },
): Promise<NonNullable<ErasureObject['status']>> {
  const now = component.clock();
  const salt = component.random(SALT_BYTES);
  const { removed, record } = await store.erase(
    { reason: 'person', ids },
    { naming, now, by, salt, limit: MAX_ERASED },
  );
  component.metrics.of(LEDGER_SERIES).erased.inc({ reason: 'person' }, removed);
  component.log.info({ removed, by }, messages.RECORDS_REMOVED);
  await store.scrub();
  return { removed, ...(record === undefined ? {} : { record: nameOf(record) }) };
}

function forbidden({ username }: ApiCaller, namespace: string | undefined): ApiAnswer {
  const where =
    namespace === undefined ? messages.AT_CLUSTER_SCOPE : messages.inQuotedNamespace(namespace);
  return failure(403, messages.erasureForbidden(username, where));
}

/** Returns the spec of an Erasure, or the fault of the body. */
function specIn(body: string): ErasureObject['spec'] | string {
  const value = parsed(body);
  const { apiVersion, kind, spec } = value;
  if (apiVersion !== API_VERSION || kind !== 'Erasure') {
    return messages.NOT_AN_ERASURE;
  }
  const { records, living, ...others } = memberOf(spec);
  if (!isListOfNames(records)) {
    return messages.invalidRecords(MAX_ERASED);
  }
  if (living !== undefined && typeof living !== 'boolean') return messages.INVALID_LIVING;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return messages.unknownMember(unknown);
  return { records: [...new Set(records)], ...(living === undefined ? {} : { living }) };
}

function isListOfNames(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ERASED) return false;
  return value.every((each) => typeof each === 'string');
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return memberOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function memberOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/**
 * Returns the named records that still exist. It returns an error response if one never existed or
 * belongs to another namespace.
 */
async function namedRecords(
  store: LedgerStore,
  names: readonly string[],
  namespace: string | undefined,
): Promise<{ readonly records: readonly StoredRecord[] } | ApiAnswer> {
  const records: StoredRecord[] = [];
  for (const name of names) {
    const stored = await recordNamed(store, name);
    if (stored === undefined) return notFound(name);
    if ('reason' in stored) continue;
    const { record } = contentsOf(stored);
    if (namespace !== undefined && namespaceOf(record) !== namespace) return notFound(name);
    if (record.kind === 'erased') {
      return failure(409, messages.removalRecord(name));
    }
    records.push(stored);
  }
  return { records };
}

function lives(body: Uint8Array, now: number): boolean {
  const notAfter = certificateNotAfter(contentsOf({ body }).record);
  return notAfter !== undefined && notAfter >= now;
}

function stillValid(living: readonly StoredRecord[]): ApiAnswer {
  const names = living.slice(0, 5).map(nameOf).join(', ');
  const more = living.length > 5 ? messages.moreRecords(living.length - 5) : '';
  return failure(409, messages.stillValid(names, more));
}
