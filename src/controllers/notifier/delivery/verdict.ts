// SPDX-License-Identifier: Apache-2.0
import type { NoAnswer } from '../../../acme/answer.ts';
import type { Received } from '../../../acme/exchange.ts';
import { parseRetryAfter } from '../../../acme/retry-after.ts';
import { quote } from '../../../quote.ts';

/** What an answer means (HTTP 1.1 Web Hooks for Event Delivery 1.0.2, §2.2). */
export type CallVerdict =
  | { readonly kind: 'delivered' }
  /** The target is retired: nothing more may be sent to it. */
  | { readonly kind: 'gone' }
  /** This event will never be taken. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Neither this nor another one now; of a `flow`, none of this one's flow. */
  | {
      readonly kind: 'later';
      readonly why: string;
      readonly afterMs?: number | undefined;
      readonly of?: 'flow';
    };

/** What is wrong with an event stays wrong. Any other refusal may be mended by who runs the target. */
const EVENT_AT_FAULT: readonly number[] = [400, 413, 415, 422];
/** The target is away or wants to be left alone, whatever it is told (RFC 9110 §15.5.9, §15.6; RFC 6585 §4). */
const AWAY: readonly number[] = [408, 429, 502, 503, 504];
/** A target that wants to be left alone for longer is asked all the same. */
const MOST_RETRY_AFTER_MS = 3_600_000;
const SAID = 120;

/**
 * Judges an answer.
 *
 * @param now - milliseconds since 1970
 */
export function verdictOf(answer: Received | NoAnswer, now: number): CallVerdict {
  if ('kind' in answer) {
    const why =
      answer.cause === 'redirect' ? 'it redirects: name the address itself' : answer.detail;
    return { kind: 'later', why };
  }
  const { status, body } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const words = body.toString('utf8').trim();
  const why = `it answers ${status}${words === '' ? '' : `: ${quote(words, SAID)}`}`;
  if (EVENT_AT_FAULT.includes(status)) return { kind: 'refused', why };
  return later(answer, why, now);
}

function later(answer: Received, why: string, now: number): CallVerdict {
  const wait = parseRetryAfter(field(answer, 'retry-after'), field(answer, 'date'), now);
  const afterMs = wait && Math.min(wait, MOST_RETRY_AFTER_MS);
  if (afterMs !== undefined || AWAY.includes(answer.status)) return { kind: 'later', why, afterMs };
  // Others write texts of events, which a firewall before the target may refuse: that is no matter of other flows.
  return { kind: 'later', why, of: 'flow' };
}

/** A field of an answer; the first of several. */
export function field({ headers }: Pick<Received, 'headers'>, name: string): string | undefined {
  const found = headers[name];
  return typeof found === 'string' ? found : found?.[0];
}
