// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { quote } from '../quote.ts';
import { unusable, type Answer, type NoAnswer, type Ok, type Problem } from './answer.ts';
import {
  CALL_LIMITS,
  createExchange,
  type HttpCall,
  type CallLimits,
  type Exchange,
  type Received,
} from './exchange.ts';
import { createNonces, nonceIn, type Nonces } from './nonces.ts';
import { interpret, jsonOf } from './read-answer.ts';
import { resourcesAt, type Directory, type Resources } from './resources.ts';
import { signedMessage, type Caller } from './signed-message.ts';
import type { ConnectGuard } from '../egress/connect-guard.ts';

/** What is called, for metrics: never a URL. */
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

/** One resource, and how its answer is read. */
export interface Target<T> {
  readonly endpoint: Endpoint;
  readonly url: string;
  /** What the body and the headers of a success say, or why they cannot be used. */
  readonly read: (received: Received) => T | NoAnswer;
}

export interface AcmeServerInit {
  /** URL of the directory, `https://`. */
  readonly directory: string;
  /** PEM of the only trust anchors of the server; Node's own if left out. */
  readonly ca?: string | undefined;
  readonly userAgent: string;
  /** Where connections may lead; absent: everywhere. */
  readonly guard?: ConnectGuard | undefined;
  readonly clock: Clock;
  /** Called after each call over HTTP, with the status, or the cause of none. */
  readonly onCall?: (endpoint: Endpoint, outcome: string) => void;
  /** For tests of each limit. */
  readonly limits?: Partial<CallLimits>;
}

/** One ACME server: its directory, its nonces and the connections to it. Holds no account. */
export interface AcmeServer {
  readonly resources: Resources;
  /** Asked once an hour; an answer that is none is not kept. */
  readonly directory: (signal?: AbortSignal) => Promise<Answer<Directory>>;
  /** Unsigned: the directory and RFC 9773's renewal information. */
  readonly get: <T>(target: Target<T>, signal?: AbortSignal) => Promise<Answer<T>>;
  /** Signed; without a payload it is a POST-as-GET. */
  readonly post: <T>(
    caller: Caller,
    target: Target<T> & { readonly payload?: object },
    signal?: AbortSignal,
  ) => Promise<Answer<T>>;
  readonly close: () => Promise<void>;
}

const DIRECTORY_AGE_MS = 3600_000;
/** Pebble refuses one good nonce of twenty, by default; five in a row are one in three million. */
const MAX_NONCES = 6;

/** @throws SignerError SPEC_INVALID when the URL of the directory is none that we call */
export function openServer(init: AcmeServerInit): AcmeServer {
  const { clock, userAgent, ca, guard } = init;
  const resources = resourcesAt(originOf(init.directory));
  const exchange = createExchange({
    ...{ ca, userAgent, guard },
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
    const read = ({ headers }: Received): string | NoAnswer =>
      nonceIn(headers['replay-nonce']) ?? unusable('newNonce gives no Replay-Nonce', 'no-nonce');
    const answer = await send('HEAD', { endpoint: 'newNonce', url, read }, { signal });
    // Whatever happened to it, the call that the nonce is for was not sent.
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
    // A server that was started anew knows none of those that it gave before.
    if (isBadNonce(answer)) nonces.clear();
    // newNonce's is taken by whoever asked.
    if (method !== 'HEAD') nonces.keep(received.headers['replay-nonce']);
    return answer;
  };
}

function isBadNonce(answer: Answer<unknown>): boolean {
  return answer.kind === 'problem' && answer.type === 'badNonce';
}

function originOf(directory: string): string {
  const url = URL.canParse(directory) ? new URL(directory) : undefined;
  if (url?.protocol === 'https:' && `${url.username}${url.password}` === '') return url.origin;
  throw new SignerError({
    code: 'SPEC_INVALID',
    disposition: 'wait',
    message: `the directory ${quote(directory, 200)} is no https:// URL without a user`,
  });
}
