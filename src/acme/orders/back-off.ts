// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '#base/hash.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A wait that doubles each time. */
export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Wait between attempts of one call: networks and servers recover within minutes. */
const CALLS: BackOff = { firstMs: 2 * SECOND, maxMs: 10 * MINUTE };
/** Wait after a limit without a duration. */
const LIMITS: BackOff = { firstMs: MINUTE, maxMs: HOUR };
/** Least wait after a limit with a duration. */
const LIMIT_FLOOR: BackOff = { firstMs: SECOND, maxMs: 10 * MINUTE };
/** Wait between Orders of one request: a person must first correct a DNS record or a route. */
const ORDERS: BackOff = { firstMs: MINUTE, maxMs: 6 * HOUR };

/**
 * Failed Orders an hour. Let's Encrypt refuses the sixth failed authorization of a name within an
 * hour. One is left for a manual attempt.
 */
const MAX_FAILED_AN_HOUR = 4;

/** Spreads equal waits of many objects over a tenth, so that they do not end together. */
const WAIT_SPREAD = 0.1;

/** @param failures - consecutive failures including this one, at least 1 */
export function callBackOff(failures: number, uid: string): number {
  return waited(CALLS, failures, uid);
}

/** Returns the wait after a limit without Retry-After. */
export function limitBackOff(failures: number, uid: string): number {
  return waited(LIMITS, failures, uid);
}

/** Returns the least wait after a limit with Retry-After. */
export function limitFloor(limits: number): number {
  return doubled(LIMIT_FLOOR, limits);
}

/** Returns the wait for the time of number `count`, the first of which is 1. */
export function doubled({ firstMs, maxMs }: BackOff, count: number): number {
  // 2^31 exceeds all limits. A larger exponent would give Infinity, which min would accept.
  return Math.min(firstMs * 2 ** Math.min(count - 1, 31), maxMs);
}

function waited(backOff: BackOff, failures: number, uid: string): number {
  const share = fnv1a(`${uid}/${failures}`) / 2 ** 32;
  return Math.round(doubled(backOff, failures) * (1 + WAIT_SPREAD * share));
}

/**
 * Returns the earliest time of the next Order after failed ones: after a minute, doubling up to six
 * hours. A fifth failure within one hour cannot happen.
 *
 * @param failedAt - times at which Orders of the request failed, oldest first
 */
export function nextOrderAt(failedAt: readonly number[], uid: string): number {
  const last = failedAt.at(-1);
  if (last === undefined) return 0;
  const afterLast = last + waited(ORDERS, failedAt.length, uid);
  const fourthLast = failedAt.at(-MAX_FAILED_AN_HOUR);
  return fourthLast === undefined ? afterLast : Math.max(afterLast, fourthLast + HOUR);
}
