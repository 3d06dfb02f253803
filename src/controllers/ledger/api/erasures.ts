// SPDX-License-Identifier: Apache-2.0
/**
 * Removes records that somebody names, such as those of a person: `create` of the virtual resource `erasures`. The entries
 * stay in the log, and a record says who removed which.
 */
import { LEDGER_API } from '../../../api/signer/own-tls.ts';
import {
  certificateNotAfter,
  contentsOf,
  namespaceOf,
  SALT_BYTES,
  type LedgerStore,
  type LogNaming,
  type StoredRecord,
} from '../../../ledger/index.ts';
import { quote } from '../../../quote.ts';
import type { Component } from '../../../runtime/component/component.ts';
import type { MayDo } from './access.ts';
import { failure, json, type ApiAnswer, type ApiRequest } from './answer.ts';
import { API_VERSION } from './discovery.ts';
import type { ApiCaller } from './front-proxy.ts';
import { nameOf, notFound, recordNamed } from './object.ts';

/** What is to be removed, and what was. */
export interface ErasureObject {
  readonly apiVersion: string;
  readonly kind: 'Erasure';
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly creationTimestamp?: string;
  };
  readonly spec: {
    /** Names of records: `1-42`. With a certificate's go those of what became of it. */
    readonly records: readonly string[];
    /** Whether records of certificates that are still valid may be removed. */
    readonly living?: boolean;
  };
  readonly status?: {
    /** How many were removed; less than were named where some were removed before. */
    readonly removed: number;
    /** The name of the record that says so. */
    readonly record?: string;
  };
}

/** What an erasure is made with. */
export interface ErasingInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly mayErase: MayDo;
  /** Of the log that says so; nothing while this replica does not lead. */
  readonly naming: LogNaming | undefined;
}

/** One transaction removes them: appends wait for it. */
const MOST_ERASED = 500;

const PATH = new RegExp(
  `^/apis/${API_VERSION.replaceAll('.', '\\.')}(?:/namespaces/([^/]+))?/erasures/?$`,
);

/** Removes what the body names, if the caller may. @throws SignerError LEDGER_UNAVAILABLE, KubeError */
export async function eraseFor(
  init: ErasingInit,
  { url, body = '' }: ApiRequest,
  caller: ApiCaller,
): Promise<ApiAnswer> {
  const { pathname, searchParams } = new URL(url, 'https://ledger');
  const where = placeIn(pathname);
  if (where === undefined)
    return failure(405, 'records and logs can be read, and erasures created');
  if (!(await init.mayErase(caller, where))) return forbidden(caller, where.namespace);
  const spec = specIn(body);
  if (typeof spec === 'string') return failure(400, spec);
  const { naming, component } = init;
  if (naming === undefined) return failure(503, 'this replica does not lead, or has no key yet');
  const ids = await idsOf(init, spec, where.namespace);
  if ('status' in ids) return ids;
  const isDry = searchParams.getAll('dryRun').includes('All') || ids.length === 0;
  const status = isDry
    ? { removed: ids.length }
    : await erased(init, naming, { ids, by: caller.username });
  const name = status.record === undefined ? {} : { name: status.record };
  const creationTimestamp = `${new Date(component.clock()).toISOString().slice(0, 19)}Z`;
  const answer: ErasureObject = {
    ...{ apiVersion: API_VERSION, kind: 'Erasure' },
    metadata: { ...name, ...where, creationTimestamp },
    ...{ spec, status },
  };
  return json(201, answer);
}

function placeIn(path: string): { readonly namespace?: string } | undefined {
  const found = PATH.exec(path);
  if (found === null) return undefined;
  return found[1] === undefined ? {} : { namespace: decodeURIComponent(found[1]) };
}

/** The ids of what may be removed, or the answer where something may not. */
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
    { naming, now, by, salt, limit: MOST_ERASED },
  );
  component.metrics.ledgerErased('person', removed);
  component.log.info({ removed, by }, 'records are removed');
  await store.scrub();
  return { removed, ...(record === undefined ? {} : { record: nameOf(record) }) };
}

function forbidden({ username }: ApiCaller, namespace: string | undefined): ApiAnswer {
  const where =
    namespace === undefined ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  return failure(
    403,
    `erasures.${LEDGER_API.group} is forbidden: User ${quote(username)} cannot create resource "erasures" in API group "${LEDGER_API.group}" ${where}`,
  );
}

/** The spec of an Erasure, or what is wrong with the body. */
function specIn(body: string): ErasureObject['spec'] | string {
  const value = parsed(body);
  const { apiVersion, kind, spec } = value;
  if (apiVersion !== API_VERSION || kind !== 'Erasure') {
    return `the body is no Erasure of ${API_VERSION} in JSON`;
  }
  const { records, living, ...others } = memberOf(spec);
  if (!isListOfNames(records)) {
    return `spec.records must name 1 to ${MOST_ERASED} records, such as 1-42`;
  }
  if (living !== undefined && typeof living !== 'boolean') return 'spec.living must be a boolean';
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `spec has no member ${quote(unknown)}`;
  return { records: [...new Set(records)], ...(living === undefined ? {} : { living }) };
}

function isListOfNames(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ERASED) return false;
  return value.every((each) => typeof each === 'string');
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return memberOf(JSON.parse(text) as unknown);
  } catch {
    return {};
  }
}

function memberOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** All that are named and still there; or the answer, where one was never there or is another team's. */
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
      return failure(409, `${quote(name)} says what was removed, and stays`);
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
  const more = living.length > 5 ? ` and ${living.length - 5} more` : '';
  return failure(
    409,
    `the certificates of ${names}${more} are still valid: without their records nobody can tell who has them. Revoke them first, wait until they have expired, or remove the records all the same with spec.living (countersign ledger erase --living)`,
  );
}
