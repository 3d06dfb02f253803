// SPDX-License-Identifier: Apache-2.0
import type { Dispatcher } from 'undici';
import type { Clock, Monotonic } from '#base/ports.ts';
import { createClockOffset, type ClockOffset } from './clock-offset.ts';
import { createCompletionBatch } from './completion-batch.ts';
import type { Connection } from './connection.ts';
import { parseJson } from '../resource/json.ts';
import { createPools, type CredentialsChange, type OpenPools, type Pools } from './pools.ts';
import { bodyOf, headersOf, identityHeaders, queryText, type Identity } from './request.ts';
import type { RequestInit } from './request.ts';
import { isProtobuf, retryAfterOf, toKubeError, toNoResponseError } from './response.ts';
import { roundTrip, type ApiResponse } from './round-trip.ts';

export type { Query, RequestInit } from './request.ts';

/**
 * Sends requests to one API server as one identity, over shared connections. Bodies are JSON, or
 * what the caller's `read` decodes.
 *
 * Retries only a 401, once, with credentials that it reads again. The caller decides on every other
 * error. Calls may run concurrently. Beyond 64 in flight they queue here.
 */
export interface Client {
  /** @throws KubeError for any response but 2xx, and when none arrives */
  request<T>(init: RequestInit): Promise<T>;
  /**
   * Streams the body of a long GET in chunks, without a timeout. Abort `signal` to end it.
   *
   * @throws KubeError as `request`, before the first chunk. The iteration throws what interrupts
   *   it.
   */
  stream(init: RequestInit): Promise<Body>;
  /**
   * Returns local minus server time in milliseconds, estimated from the Date headers of responses.
   * It is 0 before the first. It uses the monotonic clock, so a step of the local clock shows at
   * once.
   */
  clockOffset(): number;
  /** Closes every connection at once. Requests in flight fail. */
  close(): Promise<void>;
}

/** The body of a response as it arrives. */
export interface Body extends AsyncIterable<Uint8Array> {
  /** The header's value, or '' if it is absent. */
  readonly contentType: string;
}

/** The dependencies of a {@link Client}. */
export interface ClientInit extends Identity {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Called for every request that ended, except those that the caller aborted. */
  readonly onResponse?: (result: CallResult) => void;
  /** Called when changed credentials come into use. */
  readonly onCredentials?: (change: CredentialsChange) => void;
}

/** The result of a request. */
export interface CallResult {
  readonly method: RequestInit['method'];
  /** The HTTP status, or 0 without a complete response. */
  readonly status: number;
  /** The time of sending in milliseconds of the monotonic clock. */
  readonly begun: number;
  /** Retry-After in milliseconds, where the server sent one. */
  readonly retryAfter: number | undefined;
}

/** @returns a client that opens its connections with the first request */
export function createClient(init: ClientInit): Client {
  return new ApiClient(init);
}

class ApiClient implements Client {
  readonly #init: ClientInit;
  readonly #prefix: string;
  readonly #identity: readonly string[];
  readonly #pools: Pools;
  readonly #batch = createCompletionBatch();
  /** Offset of the monotonic clock. */
  readonly #offset: ClockOffset = createClockOffset();

  constructor(init: ClientInit) {
    this.#init = init;
    const { pathname } = new URL(init.connection.server);
    this.#prefix = pathname === '/' ? '' : pathname;
    this.#identity = identityHeaders(init);
    this.#pools = createPools(init.connection, init.onCredentials);
  }

  async request<T>(request: RequestInit): Promise<T> {
    const { monotonic } = this.#init;
    const { signal, maxBytes } = request;
    const init = { monotonic, batch: this.#batch, signal, maxBytes };
    const response = await this.#observed(request, () =>
      this.#authorized((open) => roundTrip(open.calls, this.#optionsOf(request, open), init)),
    );
    if (!isSuccess(response.status)) throw toKubeError(request, response);
    try {
      const read = isProtobuf(response.headers) ? request.read : undefined;
      // The caller names the type: the API server sends what the path names.
      return (read?.(response.body) ?? parseJson(response.body.toString('utf8'))) as T;
    } catch (cause) {
      throw toNoResponseError(request, cause);
    }
  }

  async stream(request: RequestInit): Promise<Body> {
    const opened = await this.#observed(request, () =>
      this.#authorized((open) => this.#open(request, open)),
    );
    const { chunks, headers } = opened;
    if (chunks === undefined) throw toKubeError(request, opened);
    const contentType = String(headers['content-type'] ?? '');
    return { contentType, [Symbol.asyncIterator]: () => chunks[Symbol.asyncIterator]() };
  }

  clockOffset(): number {
    const ahead = this.#offset.value();
    if (ahead === undefined) return 0;
    return this.#init.clock() - (this.#init.monotonic() - ahead);
  }

  close(): Promise<void> {
    return this.#pools.close();
  }

  /** Runs `send`, reports its result, and observes the Date header of the response. */
  async #observed<R extends ApiResponse>(request: RequestInit, send: () => Promise<R>): Promise<R> {
    const begun = this.#init.monotonic();
    try {
      const response = await untilAborted(send, request.signal);
      if (request.isAggregated !== true) this.#observeDate(response, begun);
      this.#report(request, begun, response);
      return response;
    } catch (cause) {
      if (request.signal?.aborted !== true) this.#report(request, begun, undefined);
      throw toNoResponseError(request, cause);
    }
  }

  #observeDate({ status, headers: { date } }: ApiResponse, begun: number): void {
    // A proxy in front of the API server sends error pages with the proxy's own clock.
    if (status >= 500) return;
    const time = typeof date === 'string' ? Date.parse(date) : NaN;
    if (!Number.isNaN(time)) this.#offset.observe(time, begun, this.#init.monotonic());
  }

  #report({ method }: RequestInit, begun: number, response: ApiResponse | undefined): void {
    const retryAfter = response === undefined ? undefined : retryAfterOf(response.headers);
    this.#init.onResponse?.({ method, status: response?.status ?? 0, begun, retryAfter });
  }

  /** Runs `send` with the current credentials, and after a 401 once more with new ones. */
  async #authorized<R extends { status: number }>(
    send: (open: OpenPools) => Promise<R>,
  ): Promise<R> {
    const open = await this.#pools.current();
    const response = await send(open);
    if (response.status !== 401) return response;
    this.#init.connection.invalidate(open.credentials);
    return send(await this.#pools.current());
  }

  #optionsOf(request: RequestInit, { credentials }: OpenPools): Dispatcher.DispatchOptions {
    return {
      method: request.method,
      path: this.#prefix + request.path + queryText(request.query),
      headers: headersOf(request, credentials, this.#identity),
      body: bodyOf(request.body),
    };
  }

  async #open(request: RequestInit, open: OpenPools): Promise<OpenedStream> {
    const { statusCode, headers, body } = await open.streams.request({
      ...this.#optionsOf(request, open),
      bodyTimeout: 0,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    if (isSuccess(statusCode)) {
      return { status: statusCode, headers, body: NO_BODY, chunks: body };
    }
    return { status: statusCode, headers, body: await startOf(body) };
  }
}

/** A response. If it is a success, its body is still unread. */
interface OpenedStream extends ApiResponse {
  readonly chunks?: AsyncIterable<Uint8Array>;
}

const NO_BODY = Buffer.alloc(0);

/** Exceeds every Status that refuses a watch. A broken proxy may send an endless page. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Reads a body to its end or {@link MAX_ERROR_BYTES}. Closes the connection of a longer one. */
async function startOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks, size);
}

/**
 * Rejects with the signal's reason as soon as it is aborted. undici heeds a signal only from the
 * moment at which a connection is open, and then ends what is left of the request.
 */
async function untilAborted<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work();
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
