// SPDX-License-Identifier: Apache-2.0
import { messageOf, SignerError } from '#base/errors.ts';
import {
  contentsOf,
  formatProof,
  idOfName,
  namespaceOf,
  type LedgerStore,
  type LogNaming,
  type RecordCursor,
  type Removal,
} from '#ledger/index.ts';
import type { Component } from '#component/contract.ts';
import { componentOf, type TokenAuthenticator } from '../token-review.ts';
import { createAuthorizer, type Authorizer } from './access-review.ts';
import { failure, json, type ApiAnswer, type ApiRequest } from './answer.ts';
import { eraseFor } from './erasures.ts';
import { API_VERSION, discovery } from './discovery.ts';
import { callerOf, type ApiCaller } from './front-proxy.ts';
import type { FrontProxySource } from './front-proxy-source.ts';
import { logsAnswer } from './logs.ts';
import { createReaders } from './readers.ts';
import { accountOfUser, RequestLimits, type CallerAccount } from './request-limits.ts';
import { nameOf, notFound, objectOf, recordNamed, resultsByKey } from './object.ts';
import type { RecordObject } from './object.ts';
import { formatPageToken, parsePageToken, type PagedRequest } from './page-token.ts';
import { parseFieldSelector, type RecordFilter, type SelectorFault } from './selector.ts';
import { tableOf, wantsTable } from './kubectl-columns.ts';
import { TooManyLookupsError } from '../caller-lookups.ts';
import { Turns } from '../turns.ts';
import * as messages from '../messages.ts';

/** Dependencies of the API. */
export interface LedgerApiInit {
  readonly component: Component;
  readonly store: LedgerStore;
  /**
   * Configuration of the API server's client certificate. Absent if the API is not aggregated; then
   * no client counts as the API server.
   */
  readonly front?: Pick<FrontProxySource, 'current'> | undefined;
  readonly authenticate: TokenAuthenticator;
  /** Namespace of the components whose tokens are accepted. */
  readonly namespace: string;
  /** Returns the naming of the log for erasures, or undefined while this replica does not lead. */
  readonly naming: () => LogNaming | undefined;
}

/** Handles one request. Never throws. */
export type LedgerApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** Records of a page: by default, and at most. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
/**
 * Searches at a time. SQLite runs them in the only thread that reads, where proofs and checkpoints
 * wait behind them. PostgreSQL has four connections for all.
 */
const MAX_SEARCHES = 2;

/** Returns the API over a store. */
export function createLedgerApi(init: LedgerApiInit): LedgerApi {
  const { component, store, front, naming } = init;
  const mayRead = createAuthorizer(component, 'read');
  const mayList = createAuthorizer(component, 'list');
  const mayErase = createAuthorizer(component, 'erase');
  const readerOf = createReaders(component);
  const limits = new RequestLimits();
  const turns = new Turns(MAX_SEARCHES);
  return async (request) => {
    try {
      const user =
        callerOf(front?.current(), request, component.clock()) ?? (await readerOf(request));
      const caller = user ?? (await readingComponent(init, request));
      if (caller === undefined) {
        return failure(401, messages.UNSIGNED);
      }
      if (request.method === 'POST') {
        return await eraseFor({ component, store, mayErase, naming: naming() }, request, caller);
      }
      const account: CallerAccount =
        user === undefined
          ? { kind: 'component', name: caller.username }
          : accountOfUser(user.username, init.namespace);
      const now = component.clock();
      const context = { store, limits, turns, account, mayRead, mayList, now };
      return await answerTo(context, request, caller);
    } catch (error) {
      // Clients without any right cause these, as many as they like.
      if (!(error instanceof TooManyLookupsError)) {
        component.log.warn({ error: messageOf(error) }, messages.REQUEST_FAILED);
      }
      const why = error instanceof SignerError ? error.message : messages.NO_ANSWER;
      return failure(503, messages.cannotAnswer(why));
    }
  };
}

/**
 * Authenticates a component of this installation by its ledger token. It may read, but never erase.
 */
async function readingComponent(
  { authenticate, namespace }: LedgerApiInit,
  { method, headers, address }: ApiRequest,
): Promise<ApiCaller | undefined> {
  const [, token] = /^Bearer (\S+)$/.exec(headers['authorization']?.[0] ?? '') ?? [];
  if (method !== 'GET' || token === undefined) return undefined;
  const caller = await authenticate(token, address);
  const isComponent = caller !== undefined && componentOf(caller.username, namespace) !== undefined;
  return isComponent ? caller : undefined;
}

interface Context {
  readonly store: LedgerStore;
  readonly limits: RequestLimits;
  readonly turns: Turns;
  readonly account: CallerAccount;
  readonly mayRead: Authorizer;
  readonly mayList: Authorizer;
  readonly now: number;
}

/** Paths of long answers. The others have a few KiB, and a verifier reads many tiles at a time. */
const LONG = /\/(?:checkpoints|records(?:\/[^/]+)?)$/;

async function answerTo(
  context: Context,
  { url, method, headers, closed }: ApiRequest,
  caller: ApiCaller,
): Promise<ApiAnswer> {
  if (method !== 'GET') return failure(405, messages.READ_AND_ERASE_ONLY);
  const { pathname, searchParams } = new URL(url, 'https://ledger');
  const document = discovery(pathname.replace(/\/$/, ''));
  if (document !== undefined) return document;
  if (searchParams.get('watch') === 'true' || searchParams.get('watch') === '1') {
    return failure(405, messages.NO_WATCH);
  }
  const accept = headers['accept']?.join(',') ?? '';
  const answer = (): Promise<ApiAnswer> =>
    resourceAnswer(context, { pathname, query: searchParams, accept }, caller);
  return LONG.test(pathname) ? context.limits.answer(context.account, closed, answer) : answer();
}

interface ResourceRequest {
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly accept: string;
}

async function resourceAnswer(
  context: Context,
  { pathname, query, accept }: ResourceRequest,
  caller: ApiCaller,
): Promise<ApiAnswer> {
  const logs = await logsAnswer(context.store, pathname, query);
  if (logs !== undefined) return logs;
  const asked = recordsPath(pathname);
  if (asked === undefined) return failure(404, messages.NO_RESOURCE);
  return asked.name === undefined
    ? listed(context, caller, { ...asked, query, accept })
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

function forbidden(
  { username }: ApiCaller,
  { namespace, name }: RecordsPath,
  verb: 'get' | 'list' = 'get',
): ApiAnswer {
  const which = name === undefined ? '' : ` "${name}"`;
  return failure(403, messages.forbidden(which, username, verb, namespace));
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

/**
 * Returns the response for a removed record. It is public which entries have no record, and the
 * name reveals no more.
 */
function gone(name: string, { reason, at, record }: Removal): ApiAnswer {
  const by = reason === 'retention' ? 'retention' : messages.AN_ERASURE;
  return failure(410, messages.recordRemoved(name, by, at, nameOf(record)));
}

interface ListRequest extends RecordsPath {
  readonly query: URLSearchParams;
  readonly accept: string;
}

async function listed(
  { store, turns, account, mayRead, mayList, now }: Context,
  caller: ApiCaller,
  { namespace, query, accept }: ListRequest,
): Promise<ApiAnswer> {
  const where = namespace === undefined ? {} : { namespace };
  if (!(await mayRead(caller, where))) return forbidden(caller, where);
  if (!(await mayList(caller, where))) return forbidden(caller, where, 'list');
  const search = searchOf(query, where, now);
  if ('fault' in search) return failure(400, search.fault);
  const { of, asked, after } = search;
  const limit = limitOf(query.get('limit'));
  const page = { ...asked, ...(after === undefined ? {} : { after }), limit };
  return turns.take(account.name, async () => {
    const { records, next } = await store.find(page);
    const items = await withResults(store, records);
    const metadata =
      next === undefined ? {} : { continue: formatPageToken(of, { after: next, times: asked }) };
    if (wantsTable(accept)) return json(200, tableOf(items, metadata, now));
    return json(200, { apiVersion: API_VERSION, kind: 'RecordList', metadata, items });
  });
}

/** One page of a search. */
interface Search {
  readonly of: PagedRequest;
  readonly asked: RecordFilter;
  readonly after: RecordCursor | undefined;
}

function searchOf(
  query: URLSearchParams,
  where: { readonly namespace?: string },
  now: number,
): Search | SelectorFault {
  const selector = query.get('fieldSelector') ?? '';
  const asked = parseFieldSelector(selector, { ...where, now });
  if ('fault' in asked) return { fault: messages.unusableSelector(asked.fault) };
  if ((query.get('labelSelector') ?? '') !== '') {
    return { fault: messages.NO_LABELS };
  }
  const oldestFirst = query.get('order') === 'oldest';
  const of: PagedRequest = { namespace: where.namespace, selector, oldestFirst };
  const text = query.get('continue') ?? '';
  if (text === '') return { of, asked: { ...asked, oldestFirst }, after: afterName(query) };
  const token = parsePageToken(text, of);
  if (token === undefined) {
    return { fault: messages.OTHER_SEARCH };
  }
  return { of, asked: { ...asked, ...token.times, oldestFirst }, after: token.after };
}

/**
 * Parses `after=1-42` with `order=oldest`: the last record that a reader has, even if it was
 * removed since.
 */
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

/**
 * Parses the limit. kubectl requests 500, and with --chunk-size=0 all, which also returns pages
 * here.
 */
function limitOf(text: string | null): number {
  const limit = Number(text ?? '0');
  if (!Number.isInteger(limit) || limit <= 0) return DEFAULT_LIMIT;
  return Math.min(limit, MAX_LIMIT);
}
