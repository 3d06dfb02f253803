// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '../hash.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A wait that doubles with each failure. */
interface BackOff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Between two attempts of one call: networks and servers come back within minutes. */
const CALLS: BackOff = { firstMs: 2 * SECOND, mostMs: 10 * MINUTE };
/** A limit that does not say how long it lasts. */
const LIMITS: BackOff = { firstMs: MINUTE, mostMs: HOUR };
/** Between two Orders of one request: somebody must correct a DNS record or a route first. */
const ORDERS: BackOff = { firstMs: MINUTE, mostMs: 6 * HOUR };

/** Let's Encrypt refuses the sixth failed authorization of a name within an hour; one is left to the reader. */
const MOST_FAILED_AN_HOUR = 4;

/** Between two looks at what a healthy server is busy with: most are done at once. */
const POLLS: BackOff = { firstMs: SECOND, mostMs: 10 * SECOND };

/** Equal waits of many objects spread over a tenth, so that they do not come back together. */
const WAIT_SPREAD = 0.1;

/** @param failures - in a row, this one included: at least 1 */
export function callBackOff(failures: number, uid: string): number {
  return waited(CALLS, failures, uid);
}

/** The wait after a limit that came without Retry-After. */
export function limitBackOff(failures: number, uid: string): number {
  return waited(LIMITS, failures, uid);
}

/**
 * When the server is asked again whether it is done, where it does not say: after a second, doubling up to ten.
 *
 * @param polls - in a row, this one included: at least 1
 */
export function pollBackOff(polls: number): number {
  return grown(POLLS, polls);
}

function grown({ firstMs, mostMs }: BackOff, count: number): number {
  // 2^31 is more than any of them: an exponent beyond gives Infinity, which min would take, too.
  return Math.min(firstMs * 2 ** Math.min(count - 1, 31), mostMs);
}

function waited(backOff: BackOff, failures: number, uid: string): number {
  const share = fnv1a(`${uid}/${failures}`) / 2 ** 32;
  return Math.round(grown(backOff, failures) * (1 + WAIT_SPREAD * share));
}

/**
 * When a request whose Orders failed may have the next one: after a minute, doubling up to six hours, and never a fifth
 * failure within one hour.
 *
 * @param failedAt - times at which its Orders failed, oldest first
 */
export function nextOrderAt(failedAt: readonly number[], uid: string): number {
  const last = failedAt.at(-1);
  if (last === undefined) return 0;
  const afterLast = last + waited(ORDERS, failedAt.length, uid);
  const fourthLast = failedAt.at(-MOST_FAILED_AN_HOUR);
  return fourthLast === undefined ? afterLast : Math.max(afterLast, fourthLast + HOUR);
}
