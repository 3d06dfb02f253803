// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';

export interface TokenBucketInit {
  /** How many at once, when the bucket is full. */
  readonly burst: number;
  readonly perSecond: number;
  readonly clock: Clock;
}

/** @returns a function that takes a token, and returns false if there is none */
export function createTokenBucket(init: TokenBucketInit): () => boolean {
  const bucket = createBucket(init);
  return () => {
    if (bucket.filled() < 1) return false;
    bucket.take();
    return true;
  };
}

/**
 * @returns a function that reserves a token, and returns the milliseconds until that token is there, as
 * `Reserve` of golang.org/x/time/rate does
 */
export function createReservations(init: TokenBucketInit): () => number {
  const bucket = createBucket(init);
  return () => {
    const missing = 1 - bucket.filled();
    bucket.take();
    return missing <= 0 ? 0 : (missing * 1000) / init.perSecond;
  };
}

function createBucket({ burst, perSecond, clock }: TokenBucketInit): {
  filled: () => number;
  take: () => void;
} {
  let tokens = burst;
  let last = clock();
  return {
    filled: () => {
      const now = clock();
      // A clock that was set back adds no tokens, and removes none.
      tokens = Math.min(burst, tokens + (Math.max(0, now - last) * perSecond) / 1000);
      last = now;
      return tokens;
    },
    take: () => {
      tokens -= 1;
    },
  };
}
