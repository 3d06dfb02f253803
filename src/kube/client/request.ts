// SPDX-License-Identifier: Apache-2.0
import type { Credentials } from './connection.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestInit {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As `resource()` makes it: already escaped. */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Reads an answer in protobuf, where `accept` asks for it. @throws SyntaxError */
  readonly read?: (body: Uint8Array) => unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Whom the requests say they come from. */
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

export function bodyOf(body: unknown): string | Uint8Array | null {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

/** `?a=b&c=d`, without what is undefined; '' when nothing is left. */
export function queryText(query: Query | undefined): string {
  if (query === undefined) return '';
  const parts = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(value)}`],
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
