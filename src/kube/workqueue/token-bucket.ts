// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';

export interface TokenBucketInit {
  /** So many at once, after a time of rest. */
  readonly burst: number;
  readonly perSecond: number;
  readonly clock: Clock;
}

/** Says whether one more is within the rate; counts it if so. */
export function createTokenBucket(init: TokenBucketInit): () => boolean {
  const bucket = createBucket(init);
  return () => {
    if (bucket.filled() < 1) return false;
    bucket.take();
    return true;
  };
}

/** Counts one more, and says how many milliseconds later it is within the rate. */
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
      // A clock that was set back gives nothing, and takes nothing.
      tokens = Math.min(burst, tokens + (Math.max(0, now - last) * perSecond) / 1000);
      last = now;
      return tokens;
    },
    take: () => {
      tokens -= 1;
    },
  };
}
