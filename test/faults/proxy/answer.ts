// SPDX-License-Identifier: Apache-2.0
import type { ServerResponse } from 'node:http';
import type { Fault } from './rule.ts';

type Answer = Extract<Fault, { kind: 'answer' }>;

/** Reasons of `metav1.Status` (apimachinery, errors.go). */
const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** What an API server says; also the object of an ERROR line. */
export function statusOf({ status, retryAfter }: Answer): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'injected by the fault proxy',
    reason: REASONS[status] ?? 'Unknown',
    code: status,
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
  };
}

export function answer(response: ServerResponse, fault: Answer): void {
  const after = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
  if (fault.status === 502) {
    // Said by what stands before an API server, never by itself: a page for people.
    response.writeHead(502, { 'content-type': 'text/html', ...after });
    response.end('<html><body><h1>502 Bad Gateway</h1></body></html>');
    return;
  }
  response.writeHead(fault.status, { 'content-type': 'application/json', ...after });
  response.end(JSON.stringify(statusOf(fault)));
}
