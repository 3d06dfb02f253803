// SPDX-License-Identifier: Apache-2.0
import type { Credentials } from './connection.ts';

/** Query parameters; undefined ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One request to the API server. */
export interface RequestInit {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As `resource()` makes it: escaped. */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Decodes a response in protobuf, where `accept` requests it. @throws SyntaxError */
  readonly read?: (body: Uint8Array) => unknown;
  /**
   * Whether an aggregated API server answers, behind the API server, which passes on its header fields: its Date says
   * nothing of the API server's clock. Nothing that is signed may depend on it.
   */
  readonly isAggregated?: boolean;
  /** Bytes of a response, at most; 64 MiB if absent. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Which user agent and user the requests name. */
export interface Identity {
  readonly userAgent: string;
  readonly impersonate?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

/** The headers that every request of one client carries. */
export function identityHeaders({ userAgent, impersonate }: Identity): readonly string[] {
  const headers = ['user-agent', userAgent];
  if (impersonate === undefined) return headers;
  headers.push('impersonate-user', impersonate.user);
  for (const group of impersonate.groups) headers.push('impersonate-group', group);
  return headers;
}

/** All headers of one request, names and values in turn. */
export function headersOf(
  { accept, body, contentType }: RequestInit,
  { authorization }: Credentials,
  identity: readonly string[],
): string[] {
  const headers = ['accept', accept ?? 'application/json', ...identity];
  if (authorization !== undefined) headers.push('authorization', authorization);
  if (body !== undefined) headers.push('content-type', contentType ?? 'application/json');
  return headers;
}

/** The body as it is sent: strings and bytes as they are, everything else as JSON. */
export function bodyOf(body: unknown): string | Uint8Array | null {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

/** `?a=b&c=d` without undefined parameters; '' without any. */
export function queryText(query: Query | undefined): string {
  if (query === undefined) return '';
  const parts = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(value)}`],
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
