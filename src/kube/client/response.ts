// SPDX-License-Identifier: Apache-2.0
import { PROTOBUF, openEnvelope } from '../../protobuf/envelope.ts';
import type { ApiResponse } from './round-trip.ts';
import { KubeError, type Status } from './kube-error.ts';
import { readStatusMessage } from './protobuf-status.ts';
import type { RequestInit } from './request.ts';

/** The error for an answer that is no success. */
export function toKubeError(request: RequestInit, answer: ApiResponse): KubeError {
  const { status, headers } = answer;
  const body = parseStatus(answer);
  return new KubeError({ status, what: whatOf(request), body, retryAfter: retryAfterOf(headers) });
}

/** The error for an answer that did not come, or not whole. */
export function toNoResponseError(request: RequestInit, cause: unknown): KubeError {
  return new KubeError({ status: 0, what: whatOf(request), cause });
}

function whatOf({ method, path }: RequestInit): string {
  return `${method} ${path}`;
}

/** Of a page that a proxy in between sent, so much is shown. */
const MAX_FOREIGN_TEXT = 300;

/** The body of an error: `metav1.Status`, or whatever a proxy in between said. */
function parseStatus({ headers, body }: ApiResponse): Status {
  const text = body.toString('utf8');
  try {
    if (isProtobuf(headers)) return readStatusMessage(openEnvelope(body).raw);
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // Neither of them: shown as it is below.
  }
  return { message: text.slice(0, MAX_FOREIGN_TEXT) };
}

/**
 * Milliseconds. The API server sends whole seconds (RFC 9110 §10.2.3 also has a date, which it never
 * sends).
 */
export function retryAfterOf(headers: ApiResponse['headers']): number | undefined {
  const text = headers['retry-after'];
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text)) return undefined;
  return Number(text) * 1000;
}

/** Whether an answer came in protobuf: who asks for it may be answered in JSON all the same. */
export function isProtobuf(headers: ApiResponse['headers']): boolean {
  return String(headers['content-type'] ?? '').startsWith(PROTOBUF);
}
