// SPDX-License-Identifier: Apache-2.0
import type { Credentials } from './connection.ts';

/** Query parameters. Undefined ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One request to the API server. */
export interface RequestInit {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The escaped path, from `resource()`. */
  readonly path: string;
  readonly query?: Query;
  /** The body. Strings and bytes are sent unchanged, everything else as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Decodes a response in protobuf, if `accept` requests it. @throws SyntaxError */
  readonly read?: (body: Uint8Array) => unknown;
  /**
   * True if an aggregated API server responds. The API server passes on its header fields, so its
   * Date does not show the API server's clock. Nothing that is signed may depend on it.
   */
  readonly isAggregated?: boolean;
  /** Additional header fields, for a server behind the API server. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The limit of a response in bytes. Default: 64 MiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** The user agent and the user of the requests. */
export interface Identity {
  readonly userAgent: string;
  readonly impersonate?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

/** Returns the headers that every request of one client carries. */
export function identityHeaders({ userAgent, impersonate }: Identity): readonly string[] {
  const headers = ['user-agent', userAgent];
  if (impersonate === undefined) return headers;
  headers.push('impersonate-user', impersonate.user);
  for (const group of impersonate.groups) headers.push('impersonate-group', group);
  return headers;
}

/** Returns all headers of one request, names and values in turn. */
export function headersOf(
  { accept, body, contentType, headers: more }: RequestInit,
  { authorization }: Credentials,
  identity: readonly string[],
): string[] {
  const headers = ['accept', accept ?? 'application/json', ...identity];
  if (authorization !== undefined) headers.push('authorization', authorization);
  if (body !== undefined) headers.push('content-type', contentType ?? 'application/json');
  if (more !== undefined) headers.push(...Object.entries(more).flat());
  return headers;
}

/** Returns the body to send: strings and bytes unchanged, everything else as JSON. */
export function bodyOf(body: unknown): string | Uint8Array | null {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

/** Returns `?a=b&c=d` without undefined parameters, or '' if there are none. */
export function queryText(query: Query | undefined): string {
  if (query === undefined) return '';
  const parts = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(value)}`],
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
