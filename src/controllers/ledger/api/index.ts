// SPDX-License-Identifier: Apache-2.0
/** The aggregated API `ledger.countersign.dev`: records for whoever may `get` them in their namespace. */
import { LEDGER_API } from '../../../api/signer/own-tls.ts';
import { messageOf, SignerError } from '../../../errors.ts';
import {
  contentsOf,
  formatProof,
  idOfName,
  namespaceOf,
  type LedgerStore,
  type LogNaming,
  type RecordCursor,
  type Removal,
} from '../../../ledger/index.ts';
import { quote } from '../../../quote.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { createMay, type MayDo } from './access.ts';
import { failure, json, type ApiAnswer, type ApiRequest } from './answer.ts';
import { eraseFor } from './erasures.ts';
import { API_VERSION, discovery } from './discovery.ts';
import { callerOf, type ApiCaller } from './front-proxy.ts';
import type { FrontProxySource } from './front-proxy-source.ts';
import { logsAnswer } from './logs.ts';
import { nameOf, notFound, objectOf, recordNamed, resultsByKey } from './object.ts';
import type { RecordObject } from './object.ts';
import { formatPageToken, parsePageToken, type Continued } from './page-token.ts';
import { askedBy, type AskedRecords, type SelectorFault } from './selector.ts';
import { tableOf, wantsTable } from './table.ts';

/** What the API answers from. */
export interface LedgerApiInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly front: Pick<FrontProxySource, 'current'>;
  /** What records are removed with; nothing while this replica does not lead. */
  readonly naming: () => LogNaming | undefined;
}

/** Answers one request. Never throws. */
export type LedgerApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** Records a page, where the client does not say, and at most. */
const DEFAULT_LIMIT = 100;
const MOST_LIMIT = 500;

/** The API over a store. */
export function createLedgerApi({ component, store, front, naming }: LedgerApiInit): LedgerApi {
  const mayRead = createMay(component, 'read');
  const mayErase = createMay(component, 'erase');
  return async (request) => {
    try {
      const caller = callerOf(front.current(), request, component.clock());
      if (caller === undefined) {
        return failure(401, 'ask the API server: it alone is believed who asks');
      }
      if (request.method === 'POST') {
        return await eraseFor({ component, store, mayErase, naming: naming() }, request, caller);
      }
      return await answerTo({ store, mayRead, now: component.clock() }, request, caller);
    } catch (error) {
      component.log.warn({ error: messageOf(error) }, 'a request for records is not answered');
      const why = error instanceof SignerError ? error.message : 'the API server did not answer';
      return failure(503, `the ledger cannot answer now: ${why}`);
    }
  };
}

interface Context {
  readonly store: LedgerStore;
  readonly mayRead: MayDo;
  readonly now: number;
}

async function answerTo(
  context: Context,
  { url, method, headers }: ApiRequest,
  caller: ApiCaller,
): Promise<ApiAnswer> {
  if (method !== 'GET') return failure(405, 'records and logs can be read, and erasures created');
  const { pathname, searchParams } = new URL(url, 'https://ledger');
  const document = discovery(pathname.replace(/\/$/, ''));
  if (document !== undefined) return document;
  if (searchParams.get('watch') === 'true' || searchParams.get('watch') === '1') {
    return failure(405, 'records cannot be watched');
  }
  const logs = await logsAnswer(context.store, pathname, searchParams);
  if (logs !== undefined) return logs;
  const asked = recordsPath(pathname);
  if (asked === undefined) return failure(404, 'the server could not find the requested resource');
  const accept = headers['accept']?.join(',') ?? '';
  return asked.name === undefined
    ? listed(context, caller, { ...asked, query: searchParams, accept })
    : one(context, caller, { ...asked, name: asked.name, accept });
}

const RECORDS = new RegExp(
  `^/apis/${API_VERSION.replaceAll('.', '\\.')}(?:/namespaces/([^/]+))?/records(?:/([^/]+))?$`,
);

interface RecordsPath {
  readonly namespace?: string;
  readonly name?: string;
}

function recordsPath(path: string): RecordsPath | undefined {
  const found = RECORDS.exec(path);
  if (found === null) return undefined;
  const [, namespace, name] = found;
  return {
    ...(namespace === undefined ? {} : { namespace: decodeURIComponent(namespace) }),
    ...(name === undefined ? {} : { name: decodeURIComponent(name) }),
  };
}

function forbidden({ username }: ApiCaller, { namespace, name }: RecordsPath): ApiAnswer {
  const where =
    namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const which = name === undefined ? '' : ` "${name}"`;
  return failure(
    403,
    `records.${LEDGER_API.group}${which} is forbidden: User ${quote(username)} cannot get resource "records" in API group "${LEDGER_API.group}" ${where}; a RoleBinding to ClusterRole countersign-ledger-reader lets them`,
  );
}

async function one(
  { store, mayRead, now }: Context,
  caller: ApiCaller,
  { namespace, name, accept }: RecordsPath & { readonly name: string; readonly accept: string },
): Promise<ApiAnswer> {
  const path = { ...(namespace === undefined ? {} : { namespace }), name };
  if (!(await mayRead(caller, path))) return forbidden(caller, path);
  const stored = await recordNamed(store, name);
  if (stored === undefined) return notFound(name);
  if ('reason' in stored) return gone(name, stored);
  const contents = contentsOf(stored);
  const isElsewhere = namespace !== undefined && namespaceOf(contents.record) !== namespace;
  if (isElsewhere) return notFound(name);
  const results = resultsByKey(await store.results([contents.record.key]));
  const found = objectOf(stored, contents, results);
  if (wantsTable(accept)) return json(200, tableOf([found], {}, now));
  const proof = await store.prove(stored.id);
  return json(200, proof === undefined ? found : { ...found, proof: formatProof(proof) });
}

/** Which entries have no record any longer is public: the name says nothing more. */
function gone(name: string, { reason, at, record }: Removal): ApiAnswer {
  const by = reason === 'retention' ? 'retention' : 'an erasure';
  return failure(
    410,
    `records.${LEDGER_API.group} ${quote(name)} was removed by ${by} at ${at}, as record ${nameOf(record)} says; its entry stays in the log, and proofs of it hold`,
  );
}

interface ListRequest extends RecordsPath {
  readonly query: URLSearchParams;
  readonly accept: string;
}

async function listed(
  { store, mayRead, now }: Context,
  caller: ApiCaller,
  { namespace, query, accept }: ListRequest,
): Promise<ApiAnswer> {
  const where = namespace === undefined ? {} : { namespace };
  if (!(await mayRead(caller, where))) return forbidden(caller, where);
  const search = searchOf(query, where, now);
  if ('fault' in search) return failure(400, search.fault);
  const { of, asked, after } = search;
  const limit = limitOf(query.get('limit'));
  const page = await store.find({ ...asked, ...(after === undefined ? {} : { after }), limit });
  const items = await withResults(store, page.records);
  const next = page.next;
  const metadata =
    next === undefined ? {} : { continue: formatPageToken(of, { after: next, times: asked }) };
  if (wantsTable(accept)) return json(200, tableOf(items, metadata, now));
  return json(200, { apiVersion: API_VERSION, kind: 'RecordList', metadata, items });
}

/** One page of a search. */
interface Search {
  readonly of: Continued;
  readonly asked: AskedRecords;
  readonly after: RecordCursor | undefined;
}

function searchOf(
  query: URLSearchParams,
  where: { readonly namespace?: string },
  now: number,
): Search | SelectorFault {
  const selector = query.get('fieldSelector') ?? '';
  const asked = askedBy(selector, { ...where, now });
  if ('fault' in asked) return { fault: `the field selector cannot be used: ${asked.fault}` };
  if ((query.get('labelSelector') ?? '') !== '') {
    return { fault: 'records have no labels; use a field selector' };
  }
  const oldestFirst = query.get('order') === 'oldest';
  const of: Continued = { namespace: where.namespace, selector, oldestFirst };
  const text = query.get('continue') ?? '';
  if (text === '') return { of, asked: { ...asked, oldestFirst }, after: afterName(query) };
  const token = parsePageToken(text, of);
  if (token === undefined) {
    return { fault: 'the continue token is of another search; search anew' };
  }
  return { of, asked: { ...asked, ...token.times, oldestFirst }, after: token.after };
}

/** `after=1-42` with `order=oldest`: what a reader has already, whether it is still there or not. */
function afterName(query: URLSearchParams): RecordCursor | undefined {
  const id = query.get('order') === 'oldest' ? idOfName(query.get('after') ?? '') : undefined;
  return id === undefined ? undefined : { id };
}

async function withResults(
  store: LedgerStore,
  records: Awaited<ReturnType<LedgerStore['find']>>['records'],
): Promise<readonly RecordObject[]> {
  const read = records.map((stored) => ({ stored, contents: contentsOf(stored) }));
  const keys = read.flatMap(({ contents: { record } }) =>
    record.kind === 'issued' ? [record.key] : [],
  );
  const results = resultsByKey(await store.results(keys));
  return read.map(({ stored, contents }) => objectOf(stored, contents, results));
}

/** kubectl asks for 500, and with --chunk-size=0 for all, which are pages here, too. */
function limitOf(text: string | null): number {
  const limit = Number(text ?? '0');
  if (!Number.isInteger(limit) || limit <= 0) return DEFAULT_LIMIT;
  return Math.min(limit, MOST_LIMIT);
}
