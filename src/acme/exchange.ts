// SPDX-License-Identifier: Apache-2.0
import { Agent, request, type Dispatcher } from 'undici';
import { messageOf } from '../errors.ts';
import { quote } from '../quote.ts';
import { unusable, type NoAnswer, type TransportCause } from './answer.ts';
import type { ConnectGuard } from '../egress/connect-guard.ts';

/** A complete answer, of any status but a redirect. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** One call over HTTP. */
export interface HttpCall {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT';
  readonly url: string;
  /** Signed messages of ACME, unless `headers` say otherwise. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** What bounds a call. */
export interface CallLimits {
  readonly connectMs: number;
  /** Silence before the answer, and within it. */
  readonly silenceMs: number;
  /** The whole call: an answer of a byte a second would hold a worker for a day. */
  readonly totalMs: number;
  /** Of an answer's body. */
  readonly maxBytes: number;
  /** Whether an answer counts whose body is longer, or does not end in time: with as much of it as was read. */
  readonly statusIsEnough?: boolean;
}

/** Let's Encrypt answers within seconds; an order of a hundred names has 30 kB. */
export const CALL_LIMITS: CallLimits = {
  connectMs: 10_000,
  silenceMs: 30_000,
  totalMs: 60_000,
  maxBytes: 1024 * 1024,
};

/** Sends calls to one server. */
export interface Exchange {
  readonly send: (call: HttpCall) => Promise<Received | NoAnswer>;
  /** Ends every connection. */
  readonly close: () => Promise<void>;
}

/** Calls in flight: 60 challenges at once ask for one state each. */
const SERVER_CONNECTIONS = 16;

export function createExchange(init: {
  /** PEM of the only trust anchors of the server; Node's own if left out. */
  readonly ca?: string | undefined;
  /** RFC 8555 §6.1 asks clients to say who they are. */
  readonly userAgent: string;
  readonly limits: CallLimits;
  /** Absent: every address may be called. */
  readonly guard?: ConnectGuard | undefined;
}): Exchange {
  const { connectMs, silenceMs, totalMs } = init.limits;
  const { ca, guard } = init;
  const agent = new Agent({
    connections: SERVER_CONNECTIONS,
    pipelining: 1,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    connect: {
      timeout: connectMs,
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
      ...(guard === undefined ? {} : { lookup: guard.lookup }),
    },
  });

  async function send(call: HttpCall): Promise<Received | NoAnswer> {
    const timeout = AbortSignal.timeout(totalMs);
    const { method, url, body, signal } = call;
    const own = { 'user-agent': init.userAgent, 'accept-language': 'en', ...contentOf(body) };
    const headers = { ...own, ...call.headers };
    const refusal = guard?.refusalOf(new URL(url).hostname);
    if (refusal !== undefined) return failed('unreachable', refusal, false);
    try {
      const answer = await request(url, {
        ...{ dispatcher: agent, method, headers, body: body ?? null },
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      return await received(answer, init.limits);
    } catch (error) {
      if (signal?.aborted === true) return failed('aborted', 'the call was aborted', true);
      if (timeout.aborted) return failed('timeout', `no answer within ${totalMs / 1000} s`, true);
      return noAnswer(error);
    }
  }

  return { send, close: () => agent.destroy() };
}

function contentOf(body: string | undefined): Readonly<Record<string, string>> {
  // RFC 8555 §6.2.
  return body === undefined ? {} : { 'content-type': 'application/jose+json' };
}

async function received(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { maxBytes, statusIsEnough = false }: CallLimits,
): Promise<Received | NoAnswer> {
  // An aborted body says so by an event that nobody else listens to.
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
  if (bytes.length > maxBytes)
    return unusable(`the answer is longer than ${maxBytes} bytes`, 'too-long');
  return { status: statusCode, headers, body: bytes };
}

/** The body, or its beginning: where it is longer than `maxBytes`, or ended by a failure. */
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
      // Leaving the loop ends the connection.
      if (size > maxBytes) break;
    }
  } catch (error) {
    return { bytes: Buffer.concat(chunks), failure: { error } };
  }
  return { bytes: Buffer.concat(chunks) };
}

/** As long as what is said of an address that is refused. */
const MAX_SAID = 300;
/** Errors of the way to the server: the request was not sent. */
const BEFORE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|ERR_SSL_.*|CERT_.*|ADDRESS_REFUSED|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|HOSTNAME_MISMATCH|EPROTO)$/;
const SILENCE = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/;

function noAnswer(error: unknown): NoAnswer {
  const code = codeOf(error);
  const said = quote(messageOf(error), MAX_SAID);
  if (BEFORE.test(code)) return failed('unreachable', `cannot be reached: ${said}`, false);
  if (SILENCE.test(code)) return failed('timeout', `the server is silent: ${said}`, true);
  return failed('cut-off', `the connection ended before the answer did: ${said}`, true);
}

/** A host with several addresses fails with one error for each. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function failed(cause: TransportCause, detail: string, mayHaveArrived: boolean): NoAnswer {
  return { kind: 'transport', cause, detail, mayHaveArrived };
}
