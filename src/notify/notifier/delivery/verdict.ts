// SPDX-License-Identifier: Apache-2.0
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import { parseRetryAfter } from '#base/egress/retry-after.ts';
import * as messages from '../messages.ts';

/** Interprets responses (HTTP 1.1 Web Hooks for Event Delivery 1.0.2, §2.2). */
export type CallVerdict =
  | { readonly kind: 'delivered' }
  /** The target is retired. It must get no more events. */
  | { readonly kind: 'gone' }
  /** The target permanently rejects this event. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The target takes no event now. With `flow`, it takes none of this event's flow. */
  | {
      readonly kind: 'later';
      readonly why: string;
      readonly afterMs?: number | undefined;
      readonly of?: 'flow';
    };

/**
 * Statuses that concern the event itself and are final. The operator of the target may fix any
 * other rejection.
 */
const EVENT_AT_FAULT: readonly number[] = [400, 413, 415, 422];
/**
 * Statuses of a target that is unavailable or overloaded, whatever the event (RFC 9110 §15.5.9,
 * §15.6; RFC 6585 §4).
 */
const AWAY: readonly number[] = [408, 429, 502, 503, 504];
/** Longest wait that a target may request. */
const MAX_TARGET_RETRY_MS = 3_600_000;

/**
 * Interprets a response.
 * @param now - milliseconds since 1970
 */
export function verdictOf(answer: HttpAnswer | NoAnswer, now: number): CallVerdict {
  if ('kind' in answer) {
    const why = answer.cause === 'redirect' ? messages.REDIRECTS : answer.detail;
    return { kind: 'later', why };
  }
  const { status, body } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const words = body.toString('utf8').trim();
  const why = messages.httpStatus(status, words);
  if (EVENT_AT_FAULT.includes(status)) return { kind: 'refused', why };
  return later(answer, why, now);
}

function later(answer: HttpAnswer, why: string, now: number): CallVerdict {
  const wait = parseRetryAfter(field(answer, 'retry-after'), field(answer, 'date'), now);
  const afterMs = wait && Math.min(wait, MAX_TARGET_RETRY_MS);
  if (afterMs !== undefined || AWAY.includes(answer.status)) return { kind: 'later', why, afterMs };
  // Events contain texts of users, which a firewall before the target may reject. Such a rejection
  // does not affect other flows.
  return { kind: 'later', why, of: 'flow' };
}

/** Returns a field of a response, or the first of several. */
export function field({ headers }: Pick<HttpAnswer, 'headers'>, name: string): string | undefined {
  const found = headers[name];
  return typeof found === 'string' ? found : found?.[0];
}
