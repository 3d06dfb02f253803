// SPDX-License-Identifier: Apache-2.0
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { messageOf } from '../errors.ts';
import { quote } from '../quote.ts';
import { unusable, type NoAnswer, type TransportCause } from './no-answer.ts';
import type { ConnectGuard } from './connect-guard.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { connectThroughProxy } from './tunnel.ts';

/** A complete answer, of any status except a redirect. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** One call over HTTP. */
export interface HttpCall {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT';
  readonly url: string;
  /**
   * Body of the call. Its default type is a signed message of ACME, unless `headers` has another.
   */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Limits of a call. */
export interface CallLimits {
  readonly connectMs: number;
  /** Silence before the answer, and within it. */
  readonly silenceMs: number;
  /** Time limit of the whole call. An answer of a byte a second would block a worker for a day. */
  readonly totalMs: number;
  /** Size limit of an answer's body. */
  readonly maxBytes: number;
  /**
   * Whether an answer counts if its body is longer, or does not end in time. It then has the part
   * that was read.
   */
  readonly statusIsEnough?: boolean;
}

/**
 * Limits for ACME. Let's Encrypt answers within seconds, and an order of a hundred names has 30 kB.
 */
export const CALL_LIMITS: CallLimits = {
  connectMs: 10_000,
  silenceMs: 30_000,
  totalMs: 60_000,
  maxBytes: 1024 * 1024,
};

/** Sends calls to one server. */
export interface Exchange {
  readonly send: (call: HttpCall) => Promise<HttpAnswer | NoAnswer>;
  /** Closes every connection. */
  readonly close: () => Promise<void>;
}

/** Concurrent calls: 60 Challenges at once read one state each. */
const SERVER_CONNECTIONS = 16;

/** Settings of {@link createExchange}. */
export interface ExchangeInit {
  /** PEM of the server's only trust anchors. Default: Node's own. */
  readonly ca?: string | undefined;
  /** User agent, which RFC 8555 §6.1 requires. */
  readonly userAgent: string;
  readonly limits: CallLimits;
  /** Check of the addresses that connections may reach. Default: all are allowed. */
  readonly guard?: ConnectGuard | undefined;
  /** Proxy of calls to `https:` URLs. Required, so that no caller forgets that of its host. */
  readonly proxy: EgressProxy | undefined;
}

/**
 * Returns the calls to one server. The first call opens a connection, and `close` ends all. It
 * follows no redirect and retries nothing.
 */
export function createExchange(init: ExchangeInit): Exchange {
  const { totalMs } = init.limits;
  const { guard, proxy } = init;
  const direct = new Agent({ ...agentOptions(init.limits), connect: directConnect(init) });
  const tunnelled =
    proxy === undefined
      ? undefined
      : new Agent({ ...agentOptions(init.limits), connect: proxyConnect(init, proxy) });

  function agentOf({ protocol, hostname, port }: URL): Agent {
    const host = hostname.replace(/^\[|\]$/g, '');
    if (tunnelled === undefined || proxy === undefined || protocol !== 'https:') return direct;
    return proxy.isBypassed(host, port === '' ? 443 : Number(port)) ? direct : tunnelled;
  }

  async function send(call: HttpCall): Promise<HttpAnswer | NoAnswer> {
    const timeout = AbortSignal.timeout(totalMs);
    const { method, url, body, signal } = call;
    const own = { 'user-agent': init.userAgent, 'accept-language': 'en', ...contentOf(body) };
    const headers = { ...own, ...call.headers };
    const target = new URL(url);
    const { origin, hostname, pathname, search } = target;
    const refusal = guard?.refusalOf(hostname);
    if (refusal !== undefined) return failed('unreachable', refusal, false);
    try {
      const answer = await agentOf(target).request({
        origin,
        path: `${pathname}${search}`,
        method,
        headers,
        body: body ?? null,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      return await received(answer, init.limits);
    } catch (error) {
      if (signal?.aborted === true) return failed('aborted', 'the call was aborted', true);
      if (timeout.aborted) return failed('timeout', `no answer within ${totalMs / 1000} s`, true);
      return noAnswer(error);
    }
  }

  async function close(): Promise<void> {
    await Promise.all([direct.destroy(), tunnelled?.destroy()]);
  }

  return { send, close };
}

function agentOptions({ silenceMs }: CallLimits): Agent.Options {
  return {
    connections: SERVER_CONNECTIONS,
    pipelining: 1,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  };
}

function directConnect({ ca, limits, guard }: ExchangeInit): buildConnector.BuildOptions {
  return {
    timeout: limits.connectMs,
    // NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(guard === undefined ? {} : { lookup: guard.lookup }),
  };
}

function proxyConnect(
  { ca, limits, guard }: ExchangeInit,
  proxy: EgressProxy,
): buildConnector.connector {
  return ({ hostname, port }, callback) => {
    const target = {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? 443 : Number(port),
    };
    const tls = {
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(ca === undefined ? {} : { ca }),
    };
    const signal = AbortSignal.timeout(limits.connectMs);
    connectThroughProxy(target, tls, { proxy, guard, signal }).then(
      (socket) => {
        callback(null, socket);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(messageOf(error)), null);
      },
    );
  };
}

function contentOf(body: string | undefined): Readonly<Record<string, string>> {
  // Media type of signed messages (RFC 8555 §6.2).
  return body === undefined ? {} : { 'content-type': 'application/jose+json' };
}

async function received(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { maxBytes, statusIsEnough = false }: CallLimits,
): Promise<HttpAnswer | NoAnswer> {
  // An aborted body emits an error event, which needs a listener.
  body.on('error', () => undefined);
  if (statusCode >= 300 && statusCode < 400) {
    body.destroy();
    const location = String(headers['location'] ?? '');
    return unusable(
      `the server redirects (${statusCode}) to ${quote(location, 200)}; name the URL itself`,
      'redirect',
    );
  }
  const { bytes, failure } = await read(body, maxBytes);
  if (statusIsEnough) return { status: statusCode, headers, body: bytes.subarray(0, maxBytes) };
  if (failure !== undefined) throw failure.error;
  if (bytes.length > maxBytes) {
    const tooLong = unusable(`the answer is longer than ${maxBytes} bytes`, 'too-long');
    return { ...tooLong, answeredStatus: statusCode };
  }
  return { status: statusCode, headers, body: bytes };
}

/** Reads the body, or its start if it is longer than `maxBytes` or fails. */
async function read(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly failure?: { readonly error: unknown } }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      // Leaving the loop closes the connection.
      if (size > maxBytes) break;
    }
  } catch (error) {
    return { bytes: Buffer.concat(chunks), failure: { error } };
  }
  return { bytes: Buffer.concat(chunks) };
}

/** Limit on a quoted error, long enough for the refusal of an address. */
const MAX_SAID = 300;
/** Errors before the request was sent. */
const BEFORE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|ERR_SSL_.*|CERT_.*|ADDRESS_REFUSED|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|HOSTNAME_MISMATCH|EPROTO|PROXY_[A-Z]+)$/;
const SILENCE = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/;

function noAnswer(error: unknown): NoAnswer {
  const code = codeOf(error);
  const said = quote(messageOf(error), MAX_SAID);
  if (BEFORE.test(code)) return failed('unreachable', `cannot be reached: ${said}`, false);
  if (SILENCE.test(code)) return failed('timeout', `the server is silent: ${said}`, true);
  return failed('cut-off', `the connection ended before the answer did: ${said}`, true);
}

/** Returns the code of an error. A host with several addresses fails with one error for each. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function failed(cause: TransportCause, detail: string, mayHaveArrived: boolean): NoAnswer {
  return { kind: 'transport', cause, detail, mayHaveArrived };
}
