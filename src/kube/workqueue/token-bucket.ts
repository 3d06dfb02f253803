// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '#base/ports.ts';

export interface TokenBucketInit {
  /** The number of tokens in a full bucket. */
  readonly burst: number;
  readonly perSecond: number;
  readonly clock: Clock;
}

/**
 * Creates a full token bucket.
 *
 * @returns a function that reserves a token, and returns the milliseconds until that token exists,
 *   as `Reserve` of golang.org/x/time/rate does
 */
export function createReservations({ burst, perSecond, clock }: TokenBucketInit): () => number {
  let tokens = burst;
  let last = clock();
  return () => {
    const now = clock();
    // A clock that was set back adds no tokens, and removes none.
    tokens = Math.min(burst, tokens + (Math.max(0, now - last) * perSecond) / 1000);
    last = now;
    const missing = 1 - tokens;
    tokens -= 1;
    return missing <= 0 ? 0 : (missing * 1000) / perSecond;
  };
}
