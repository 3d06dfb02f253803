// SPDX-License-Identifier: Apache-2.0
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher, Pool } from 'undici';

/** A request as it came in by a door. */
export interface Call {
  readonly client: string;
  readonly method: string;
  /** Of the URL, without the query. */
  readonly path: string;
  /** With the query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/** RFC 9110 §7.6.1: of one connection only; and what undici writes by itself. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
]);

/** Sends the call on; its answer's body is left to be read. */
export function forward(
  upstream: Pool,
  { method, target, headers, body }: Call,
  signal?: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  return upstream.request({
    method,
    path: target,
    headers: passed(headers),
    body: body.length === 0 ? null : body,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Headers without those of one connection. */
export function passed(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || NOT_PASSED.has(name) ? [] : [[name, value]],
    ),
  );
}
