// SPDX-License-Identifier: Apache-2.0
import { PROTOBUF, openEnvelope } from '../protobuf/envelope.ts';
import type { ApiResponse } from './round-trip.ts';
import { KubeError, type Status } from './kube-error.ts';
import { readStatusMessage } from './protobuf-status.ts';
import type { RequestInit } from './request.ts';

/** Returns the error for a response other than success. */
export function toKubeError(request: RequestInit, response: ApiResponse): KubeError {
  const { status, headers } = response;
  const body = parseStatus(response);
  return new KubeError({ status, what: whatOf(request), body, retryAfter: retryAfterOf(headers) });
}

/** Returns the error for a response that did not arrive, or not completely. */
export function toNoResponseError(request: RequestInit, cause: unknown): KubeError {
  return new KubeError({ status: 0, what: whatOf(request), cause });
}

function whatOf({ method, path }: RequestInit): string {
  return `${method} ${path}`;
}

/** Maximum length of a proxy's error page in a message. */
const MAX_FOREIGN_TEXT = 300;

/** Returns the body of an error: a `metav1.Status`, or the text that a proxy sent. */
function parseStatus({ headers, body }: ApiResponse): Status {
  const text = body.toString('utf8');
  try {
    if (isProtobuf(headers)) return readStatusMessage(openEnvelope(body).raw);
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // The body is neither, so the message shows its text.
  }
  return { message: text.slice(0, MAX_FOREIGN_TEXT) };
}

/**
 * Returns Retry-After in milliseconds. Undefined without one. The API server sends whole seconds,
 * never a date (RFC 9110 §10.2.3).
 */
export function retryAfterOf(headers: ApiResponse['headers']): number | undefined {
  const text = headers['retry-after'];
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text)) return undefined;
  return Number(text) * 1000;
}

/**
 * Reports whether a response is in protobuf. A server may respond in JSON to a request for
 * protobuf.
 */
export function isProtobuf(headers: ApiResponse['headers']): boolean {
  return String(headers['content-type'] ?? '').startsWith(PROTOBUF);
}
