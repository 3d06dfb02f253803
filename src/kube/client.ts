// SPDX-License-Identifier: Apache-2.0
import { Pool } from 'undici';
import type { Clock } from '../ports.ts';
import type { Connection, Credentials } from './connection.ts';
import { KubeError, type Status } from './kube-error.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestInit {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** Longest silence inside the body, in milliseconds. */
  readonly bodyTimeout?: number;
}

/**
 * Raw JSON over one shared pool of connections to one API server.
 *
 * It retries nothing but a 401 whose credentials were stale; the caller decides on everything else.
 * Calls may run concurrently.
 */
export interface Client {
  /** @throws KubeError for any answer but 2xx, and for none at all */
  request<T>(init: RequestInit): Promise<T>;
  /** The body of a long GET in chunks; the caller aborts `signal` to end it. */
  stream(init: RequestInit): Promise<AsyncIterable<Uint8Array>>;
  /** Local minus server time in milliseconds as last seen in a Date header; its grain is 1 s. */
  clockOffset(): number;
  close(): Promise<void>;
}

export interface ClientInit {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly impersonate?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

/** More in flight than an API server's seats for one flow only queue up there (APF). */
const CONNECTIONS = 64;
/** A half-open connection must not hold a request for ever. */
const HEADERS_TIMEOUT_MS = 30_000;
const BODY_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 60_000;

interface OpenPool {
  readonly pool: Pool;
  readonly credentials: Credentials;
}

export function createClient(init: ClientInit): Client {
  const origin = new URL(init.connection.server);
  const prefix = origin.pathname === '/' ? '' : origin.pathname;
  let open: OpenPool | undefined;
  let offset = 0;

  async function current(): Promise<OpenPool> {
    const credentials = await init.connection.credentials();
    if (open?.credentials === credentials) return open;
    const same = JSON.stringify(open?.credentials.tls) === JSON.stringify(credentials.tls);
    const before = open;
    open = {
      credentials,
      pool: same && before !== undefined ? before.pool : createPool(origin.origin, credentials),
    };
    // In-flight calls of the old pool end by themselves; destroy() would kill them.
    if (!same) void before?.pool.close();
    return open;
  }

  function headersOf(request: RequestInit, credentials: Credentials): string[] {
    const headers = ['accept', request.accept ?? 'application/json', 'user-agent', init.userAgent];
    if (credentials.authorization !== undefined) {
      headers.push('authorization', credentials.authorization);
    }
    if (request.body !== undefined) {
      headers.push('content-type', request.contentType ?? 'application/json');
    }
    if (init.impersonate !== undefined) {
      headers.push('impersonate-user', init.impersonate.user);
      for (const group of init.impersonate.groups) headers.push('impersonate-group', group);
    }
    return headers;
  }

  async function send(request: RequestInit, again: boolean): ReturnType<Pool['request']> {
    const { pool, credentials } = await current();
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    const response = await pool.request({
      method: request.method,
      path: prefix + request.path + queryText(request.query),
      headers: headersOf(request, credentials),
      body,
      bodyTimeout: request.bodyTimeout ?? BODY_TIMEOUT_MS,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const { date } = response.headers;
    if (typeof date === 'string') offset = init.clock() - Date.parse(date);
    if (response.statusCode === 401 && again) {
      await response.body.dump();
      init.connection.forget();
      return send(request, false);
    }
    return response;
  }

  async function exchange(request: RequestInit): ReturnType<Pool['request']> {
    const what = `${request.method} ${request.path}`;
    let response;
    try {
      response = await send(request, true);
    } catch (cause) {
      throw new KubeError({ status: 0, what, cause });
    }
    const { statusCode: status } = response;
    if (status >= 200 && status < 300) return response;
    const text = await response.body.text().catch(() => '');
    const body = parseStatus(text);
    throw new KubeError({ status, what, body, retryAfter: retryAfterOf(response.headers) });
  }

  return {
    request: async <T>(request: RequestInit) => {
      const response = await exchange(request);
      try {
        return (await response.body.json()) as T;
      } catch (cause) {
        throw new KubeError({ status: 0, what: `${request.method} ${request.path}`, cause });
      }
    },
    stream: async (request) => (await exchange(request)).body,
    clockOffset: () => offset,
    close: async () => {
      await open?.pool.destroy();
    },
  };
}

function createPool(origin: string, { tls }: Credentials): Pool {
  return new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { ...tls, keepAlive: true },
  });
}

function queryText(query: Query | undefined): string {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return '';
  return `?${new URLSearchParams(entries.map(([key, value]) => [key, String(value)] as [string, string])).toString()}`;
}

/** The body of an error: `metav1.Status`, or whatever a proxy in between said. */
function parseStatus(text: string): Status {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // Not JSON: shown as it is below.
  }
  return { message: text.slice(0, 300) };
}

function retryAfterOf(headers: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
