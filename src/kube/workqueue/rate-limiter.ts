// SPDX-License-Identifier: Apache-2.0
import { backoffDelay, type BackoffInit } from '../wait/backoff.ts';
import { createReservations, type TokenBucketInit } from './token-bucket.ts';

/**
 * Delays retries of a key: the longer delay of client-go's `ItemExponentialFailureRateLimiter` and
 * `BucketRateLimiter`.
 */
export interface RateLimiter {
  /** Counts one more failure of `key`, and returns the milliseconds to wait before its next try. */
  nextDelay(key: string): number;
  /** Returns how often `key` failed in a row. */
  failures(key: string): number;
  /** Resets the failures of `key`. */
  forget(key: string): void;
}

export interface RateLimiterInit extends BackoffInit {
  /** The rate of retries of all keys together. Default: unlimited. */
  readonly overall?: TokenBucketInit;
}

export function createRateLimiter(init: RateLimiterInit): RateLimiter {
  const failures = new Map<string, number>();
  const reserve = init.overall === undefined ? undefined : createReservations(init.overall);
  return {
    nextDelay: (key) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      // Retries of other keys delay a key by no more than its own failures could.
      const turn = Math.min(reserve?.() ?? 0, init.maxMs);
      return Math.max(backoffDelay(count, init), turn);
    },
    failures: (key) => failures.get(key) ?? 0,
    forget: (key) => {
      failures.delete(key);
    },
  };
}
