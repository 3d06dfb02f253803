// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../ports.ts';
import { backoffDelay } from './backoff.ts';

/** Delays an item by how often it failed in a row, as client-go's ItemExponentialFailureRateLimiter. */
export interface RateLimiter {
  /** Milliseconds to wait before the next try; counts one failure more. */
  next(key: string): number;
  failures(key: string): number;
  forget(key: string): void;
}

export function createRateLimiter(init: {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly random: Random;
}): RateLimiter {
  const failures = new Map<string, number>();
  return {
    next: (key) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return backoffDelay(count, init);
    },
    failures: (key) => failures.get(key) ?? 0,
    forget: (key) => {
      failures.delete(key);
    },
  };
}
