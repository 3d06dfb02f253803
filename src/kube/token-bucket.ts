// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../ports.ts';

export interface TokenBucketInit {
  /** So many at once, after a time of rest. */
  readonly burst: number;
  readonly perSecond: number;
  readonly clock: Clock;
}

/** Says whether one more is within the rate; counts it if so. */
export function createTokenBucket({ burst, perSecond, clock }: TokenBucketInit): () => boolean {
  let tokens = burst;
  let last = clock();
  return () => {
    const now = clock();
    // A clock that was set back gives nothing, and takes nothing.
    tokens = Math.min(burst, tokens + (Math.max(0, now - last) * perSecond) / 1000);
    last = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
