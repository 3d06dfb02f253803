// SPDX-License-Identifier: Apache-2.0
/** Intervals of polls: of Orders, Challenges, accounts and renewal windows, and of self-checks. */
import { doubled, type BackOff } from './back-off.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Wait between polls of a healthy server that is busy: most calls finish at once. */
const POLLS: BackOff = { firstMs: SECOND, maxMs: 10 * SECOND };

/**
 * Returns the wait before the next poll of an Order or a Challenge, if the server gives no
 * Retry-After: one second, doubling up to ten.
 *
 * @param polls - consecutive polls including this one, at least 1
 */
export function pollBackOff(polls: number): number {
  return doubled(POLLS, polls);
}

/**
 * Longest wait that a server may request for anything but a rate limit. A maintenance that ends
 * earlier, or a wrong header, must not delay a certificate for the week that a rate limit may take.
 */
const MAX_REQUESTED_WAIT = HOUR;

/**
 * Returns the Retry-After of a poll, or of an error other than a rate limit, in milliseconds. It is
 * at most an hour. Undefined without one.
 */
export function requestedWait(retryAfterMs: number | undefined): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, MAX_REQUESTED_WAIT);
}

/** Interval between self-checks, as in cert-manager. It does not grow. The checks do not end. */
export const SELF_CHECK_MS = 10_000;

/** Interval between readings of an account that is not valid. */
export const ACCOUNT_MS = 5 * SECOND;

const SOONEST_RENEWAL_POLL = HOUR;
const LATEST_RENEWAL_POLL = 7 * DAY;
/**
 * Poll interval without a Retry-After. RFC 9773 §4.3.3 leaves it to the client. Let's Encrypt
 * requests this.
 */
const USUAL_RENEWAL_POLL = 6 * HOUR;
/**
 * Share that spreads polls of renewal windows, so that certificates of one hour are not all checked
 * in one hour.
 */
export const RENEWAL_POLL_SPREAD = 0.1;

/**
 * Returns the time until the next request for the renewal window.
 *
 * @param retryAfterMs - from the last answer, limited to an hour at least and a week at most
 * @param failures - consecutive requests without an answer
 */
export function renewalPollMs(retryAfterMs: number | undefined, failures: number): number {
  if (failures > 0) return Math.min(MINUTE * 2 ** Math.min(failures - 1, 20), USUAL_RENEWAL_POLL);
  const wanted = retryAfterMs ?? USUAL_RENEWAL_POLL;
  return Math.min(Math.max(wanted, SOONEST_RENEWAL_POLL), LATEST_RENEWAL_POLL);
}
