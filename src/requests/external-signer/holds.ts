// SPDX-License-Identifier: Apache-2.0
/** Holds: nothing is ordered for a while after orders that brought no usable certificate. */
import type { Random } from '#base/ports.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';

/** Failures in a row, and the time until which nothing is ordered. */
export interface Hold {
  readonly until: number;
  readonly count: number;
  readonly problem: string;
}

/** Delays of the first and of each later hold. */
export interface HoldDelays {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Delays after an order that the CA denied or did not serve, added to the pause of the CA. They let
 * others go first, who may be served. They are short, since the CA may have been down for all.
 */
export const YIELD_DELAYS: HoldDelays = { firstMs: 1_000, maxMs: 60_000 };

/** Delays after answers that were refused. Each order may cost a certificate. */
export const REFUSED_ANSWER_DELAYS: HoldDelays = { firstMs: 5_000, maxMs: 3_600_000 };
/** Longest of these delays, with the jitter of a backoff. */
export const LONGEST_HOLD_MS = 1.5 * REFUSED_ANSWER_DELAYS.maxMs;

/** Returns the hold after one more failure, from a time on. */
export function longerHold(
  before: Hold | undefined,
  problem: string,
  { from, delays, random }: HoldStart,
): Hold {
  const count = before?.count ?? 0;
  const until = from + Math.floor(backoffDelay(count, { ...delays, random }));
  return { until, count: count + 1, problem };
}

interface HoldStart {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly delays: HoldDelays;
  readonly random: Random;
}
