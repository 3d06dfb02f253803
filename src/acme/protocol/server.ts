// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { Clock } from '#base/ports.ts';
import type { Answer, Ok, Problem } from './answer.ts';
import { unusable, type NoAnswer } from '#base/egress/no-answer.ts';
import {
  CALL_LIMITS,
  createExchange,
  type HttpCall,
  type CallLimits,
  type Exchange,
  type HttpAnswer,
} from '#base/egress/exchange.ts';
import { createNonces, nonceIn, type Nonces } from './nonces.ts';
import { interpret, jsonOf } from './read-answer.ts';
import { resourcesAt, type Directory, type Resources } from './resources.ts';
import { signedMessage, type Caller } from './signed-message.ts';
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import * as messages from './messages.ts';

/** Kind of a call, for metrics: never a URL. */
export type Endpoint =
  | 'directory'
  | 'newNonce'
  | 'newAccount'
  | 'account'
  | 'keyChange'
  | 'newOrder'
  | 'order'
  | 'authorization'
  | 'challenge'
  | 'finalize'
  | 'certificate'
  | 'revokeCert'
  | 'renewalInfo';

/** A resource and the reader of its answer. */
export interface Target<T> {
  readonly endpoint: Endpoint;
  readonly url: string;
  /** Returns the content of a success, or the reason that it is unusable. */
  readonly read: (received: HttpAnswer) => T | NoAnswer;
}

export interface AcmeServerInit {
  /** URL of the directory, `https://`. */
  readonly directory: string;
  /** Further origins of the URLs that the server returns, `https://`. Default: none. */
  readonly additionalOrigins?: readonly string[] | undefined;
  /** PEM of the server's only trust anchors. Default: Node's own. */
  readonly ca?: string | undefined;
  readonly userAgent: string;
  /** Check of the addresses that connections may reach. Default: all are allowed. */
  readonly guard?: ConnectGuard | undefined;
  /** Proxy of calls. Default: none. */
  readonly proxy?: EgressProxy | undefined;
  readonly clock: Clock;
  /** Called after each HTTP call with the status, or the cause of a missing answer. */
  readonly onCall?: (endpoint: Endpoint, outcome: string) => void;
  /** Limits of a call. Tests lower them. */
  readonly limits?: Partial<CallLimits>;
}

/** One ACME server: its directory, its nonces, and its connections. Holds no account. */
export interface AcmeServer {
  readonly resources: Resources;
  /** Returns the directory, cached for an hour. Failures are not cached. */
  readonly directory: (signal?: AbortSignal) => Promise<Answer<Directory>>;
  /** Sends an unsigned call: the directory, or renewal information (RFC 9773). */
  readonly get: <T>(target: Target<T>, signal?: AbortSignal) => Promise<Answer<T>>;
  /** Sends a signed call. Without a payload it is a POST-as-GET. */
  readonly post: <T>(
    caller: Caller,
    target: Target<T> & { readonly payload?: object },
    signal?: AbortSignal,
  ) => Promise<Answer<T>>;
  readonly close: () => Promise<void>;
}

const DIRECTORY_AGE_MS = 3600_000;
/**
 * Limit on attempts. By default Pebble refuses one good nonce in twenty. The chance of five in a
 * row is one in three million.
 */
const MAX_NONCES = 6;

/** @throws SignerError SPEC_INVALID if a URL of the input is not `https://` without a user */
export function openServer(init: AcmeServerInit): AcmeServer {
  const { clock, userAgent, ca, guard, proxy } = init;
  const resources = resourcesAt([init.directory, ...(init.additionalOrigins ?? [])].map(originOf));
  const exchange = createExchange({
    ca,
    userAgent,
    guard,
    proxy,
    limits: { ...CALL_LIMITS, ...init.limits },
  });
  const nonces = createNonces();
  const send = createSend(init, exchange, nonces);
  let known: { readonly until: number; readonly answer: Ok<Directory> } | undefined;

  async function freshNonce(signal: AbortSignal | undefined): Promise<string | Problem | NoAnswer> {
    const kept = nonces.take();
    if (kept !== undefined) return kept;
    const directory = await server.directory(signal);
    if (directory.kind !== 'ok') return directory;
    const url = directory.value.newNonce;
    const read = ({ headers }: HttpAnswer): string | NoAnswer =>
      nonceIn(headers['replay-nonce']) ?? unusable(messages.NO_NONCE, 'no-nonce');
    const answer = await send('HEAD', { endpoint: 'newNonce', url, read }, { signal });
    // The call that needs the nonce was not sent, whatever happened to this one.
    if (answer.kind === 'transport') return { ...answer, mayHaveArrived: false };
    return answer.kind === 'ok' ? answer.value : answer;
  }

  const server: AcmeServer = {
    resources,
    directory: async (signal) => {
      if (known !== undefined && clock() < known.until) return known.answer;
      const read = jsonOf(resources.directory);
      const target = { endpoint: 'directory', url: init.directory, read } as const;
      const answer = await send('GET', target, { signal });
      if (answer.kind === 'ok') known = { until: clock() + DIRECTORY_AGE_MS, answer };
      return answer;
    },
    get: (target, signal) => send('GET', target, { signal }),
    post: async (caller, target, signal) => {
      for (let attempt = 1; ; attempt += 1) {
        const nonce = await freshNonce(signal);
        if (typeof nonce !== 'string') return nonce;
        const message = await signedMessage(caller, { url: target.url, nonce }, target.payload);
        const answer = await send('POST', target, { body: JSON.stringify(message), signal });
        if (!isBadNonce(answer) || attempt === MAX_NONCES) return answer;
      }
    },
    close: exchange.close,
  };
  return server;
}

/** Sends a call, reads its answer, and keeps the nonce that came with it. */
type Send = <T>(
  method: HttpCall['method'],
  target: Target<T>,
  more: Pick<HttpCall, 'body' | 'signal'>,
) => Promise<Answer<T>>;

function createSend(
  { onCall = () => undefined, clock }: AcmeServerInit,
  exchange: Exchange,
  nonces: Nonces,
): Send {
  return async (method, { endpoint, url, read }, more) => {
    const received = await exchange.send({ method, url, ...more });
    if ('kind' in received) {
      onCall(endpoint, received.cause);
      return received;
    }
    onCall(endpoint, String(received.status));
    const answer = interpret(received, read, clock());
    // A restarted server knows none of its earlier nonces.
    if (isBadNonce(answer)) nonces.clear();
    // The caller of newNonce takes the nonce itself.
    if (method !== 'HEAD') nonces.keep(received.headers['replay-nonce']);
    return answer;
  };
}

function isBadNonce(answer: Answer<unknown>): boolean {
  return answer.kind === 'problem' && answer.type === 'badNonce';
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && `${url.username}${url.password}` === '') return url.origin;
  throw new SignerError({
    code: 'SPEC_INVALID',
    disposition: 'wait',
    message: messages.unusableDirectory(text),
  });
}
