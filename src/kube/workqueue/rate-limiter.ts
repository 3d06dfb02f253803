// SPDX-License-Identifier: Apache-2.0
import { backoffDelay, type BackoffInit } from '../wait/backoff.ts';
import { createReservations, type TokenBucketInit } from './token-bucket.ts';

/**
 * Delays an item by how often it failed in a row, and all items together to a rate: client-go's
 * ItemExponentialFailureRateLimiter and BucketRateLimiter, whichever is longer.
 */
export interface RateLimiter {
  /** Milliseconds to wait before the next try; counts one failure more. */
  nextDelay(key: string): number;
  failures(key: string): number;
  forget(key: string): void;
}

export interface RateLimiterInit extends BackoffInit {
  /** Without, only each item by itself is delayed. */
  readonly overall?: TokenBucketInit;
}

export function createRateLimiter(init: RateLimiterInit): RateLimiter {
  const failures = new Map<string, number>();
  const reserve = init.overall === undefined ? undefined : createReservations(init.overall);
  return {
    nextDelay: (key) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      // A long line of others makes nobody wait for longer than his own failures could.
      const turn = Math.min(reserve?.() ?? 0, init.maxMs);
      return Math.max(backoffDelay(count, init), turn);
    },
    failures: (key) => failures.get(key) ?? 0,
    forget: (key) => {
      failures.delete(key);
    },
  };
}
