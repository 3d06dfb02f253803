// SPDX-License-Identifier: Apache-2.0
import type { Dispatcher } from 'undici';
import type { Clock, Monotonic } from '../../ports.ts';
import { createClockOffset } from './clock-offset.ts';
import type { Connection } from './connection.ts';
import { roundTrip, type ApiResponse } from './round-trip.ts';
import { createCompletionBatch } from './completion-batch.ts';
import { parseJson } from '../resource/json.ts';
import { createPools, type CredentialsChange, type OpenPools } from './pools.ts';
import { isProtobuf, toNoResponseError, toKubeError, retryAfterOf } from './response.ts';
import { bodyOf, headersOf, identityHeaders, queryText, type Identity } from './request.ts';
import type { RequestInit } from './request.ts';

export type { Query, RequestInit } from './request.ts';

/**
 * JSON, or whatever else a caller reads, over shared connections to one API server, as one identity.
 *
 * It retries nothing but a 401, once, with credentials read anew: the caller decides on everything
 * else. Calls may run concurrently; beyond 64 in flight they queue here.
 */
export interface Client {
  /** @throws KubeError for any answer but 2xx, and for none at all */
  request<T>(init: RequestInit): Promise<T>;
  /**
   * The body of a long GET in chunks, without any timeout of its own: abort `signal` to end it.
   *
   * @throws KubeError as `request`, before the first chunk; the iteration throws what broke it
   */
  stream(init: RequestInit): Promise<Body>;
  /**
   * Local minus server time in milliseconds, by the Date headers of its answers; 0 before the first.
   * Reckoned by the monotonic clock: a local clock that is set shows at once, not with the next answer.
   */
  clockOffset(): number;
  /** Ends every connection at once; what is in flight fails. */
  close(): Promise<void>;
}

/** The body of an answer as it comes. */
export interface Body extends AsyncIterable<Uint8Array> {
  /** The header's value; '' where there is none. */
  readonly contentType: string;
}

export interface ClientInit extends Identity {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Told of every call that ended, and of none that the caller gave up. */
  readonly onResponse?: (answered: CallResult) => void;
  /** Told when new credentials are taken up. */
  readonly onCredentials?: (change: CredentialsChange) => void;
}

/** What a call came to. */
export interface CallResult {
  readonly method: RequestInit['method'];
  /** HTTP status; 0 without a whole answer. */
  readonly status: number;
  /** When it was begun: milliseconds of the clock. */
  readonly begun: number;
  /** Milliseconds that the server asks us to stay away. */
  readonly retryAfter: number | undefined;
}

export function createClient(init: ClientInit): Client {
  const { pathname } = new URL(init.connection.server);
  const prefix = pathname === '/' ? '' : pathname;
  const pools = createPools(init.connection, init.onCredentials);
  const identity = identityHeaders(init);
  const { monotonic } = init;
  const gather = createCompletionBatch();
  /** Of the monotonic clock. */
  const offset = createClockOffset();

  /** Runs `send` with the credentials of now, and once more with new ones where it got a 401. */
  async function authorized<R extends { status: number }>(
    send: (open: OpenPools) => Promise<R>,
  ): Promise<R> {
    const open = await pools.current();
    const response = await send(open);
    if (response.status !== 401) return response;
    init.connection.invalidate(open.credentials);
    return send(await pools.current());
  }

  function optionsOf(request: RequestInit, { credentials }: OpenPools): Dispatcher.DispatchOptions {
    return {
      method: request.method,
      path: prefix + request.path + queryText(request.query),
      headers: headersOf(request, credentials, identity),
      body: bodyOf(request.body),
    };
  }

  function observeDate({ status, headers: { date } }: ApiResponse, begun: number): void {
    // An error page of what stands before an API server has the clock of that.
    if (status >= 500) return;
    const time = typeof date === 'string' ? Date.parse(date) : NaN;
    if (!Number.isNaN(time)) offset.observe(time, begun, init.monotonic());
  }

  function clockOffset(): number {
    const ahead = offset.value();
    return ahead === undefined ? 0 : init.clock() - (init.monotonic() - ahead);
  }

  async function call(request: RequestInit): Promise<ApiResponse> {
    const [begun, since] = [init.clock(), init.monotonic()];
    const { signal } = request;
    try {
      const answer = await authorized((open) =>
        roundTrip(open.calls, optionsOf(request, open), { monotonic, batch: gather, signal }),
      );
      observeDate(answer, since);
      tell(request, begun, answer);
      return answer;
    } catch (cause) {
      if (signal?.aborted !== true) tell(request, begun, undefined);
      throw toNoResponseError(request, cause);
    }
  }

  function tell({ method }: RequestInit, begun: number, answer: ApiResponse | undefined): void {
    const retryAfter = answer === undefined ? undefined : retryAfterOf(answer.headers);
    init.onResponse?.({ method, status: answer?.status ?? 0, begun: begun, retryAfter });
  }

  async function openStream(request: RequestInit): Promise<OpenedStream> {
    const [begun, since] = [init.clock(), init.monotonic()];
    try {
      const opened = await opening(request);
      observeDate(opened, since);
      tell(request, begun, opened);
      return opened;
    } catch (cause) {
      if (request.signal?.aborted !== true) tell(request, begun, undefined);
      throw toNoResponseError(request, cause);
    }
  }

  function opening(request: RequestInit): Promise<OpenedStream> {
    return authorized(async (open) => {
      const { statusCode, headers, body } = await open.streams.request({
        ...optionsOf(request, open),
        bodyTimeout: 0,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
      if (isSuccess(statusCode)) {
        return { status: statusCode, headers, body: NOTHING, chunks: body };
      }
      return { status: statusCode, headers, body: Buffer.from(await body.arrayBuffer()) };
    });
  }

  return {
    request: async <T>(request: RequestInit) => {
      const answer = await call(request);
      if (!isSuccess(answer.status)) throw toKubeError(request, answer);
      try {
        const read = isProtobuf(answer.headers) ? request.read : undefined;
        return (read?.(answer.body) ?? parseJson(answer.body.toString('utf8'))) as T;
      } catch (cause) {
        throw toNoResponseError(request, cause);
      }
    },
    stream: async (request) => {
      const opened = await openStream(request);
      const { chunks, headers } = opened;
      if (chunks === undefined) throw toKubeError(request, opened);
      const contentType = String(headers['content-type'] ?? '');
      return { contentType, [Symbol.asyncIterator]: () => chunks[Symbol.asyncIterator]() };
    },
    clockOffset,
    close: pools.close,
  };
}

/** A response whose body is left to be read, where it is a success. */
interface OpenedStream extends ApiResponse {
  readonly chunks?: AsyncIterable<Uint8Array>;
}

const NOTHING = Buffer.alloc(0);

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
