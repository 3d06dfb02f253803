// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { backoffDelay, type BackoffInit } from '../wait/backoff.ts';
import { MAX_FLOWS } from './flows.ts';
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
  /** The rate of retries of all keys of a flow together. Default: unlimited. */
  readonly overall?: TokenBucketInit;
  /** Returns the flow of a key. Each flow has the whole rate. Default: all keys are one flow. */
  readonly flowOf?: (key: string) => string;
}

export function createRateLimiter(init: RateLimiterInit): RateLimiter {
  const failures = new Map<string, number>();
  const reserve = createFlowReservations(init);
  return {
    nextDelay: (key) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      // Other keys of its flow delay a key by no more than its own failures could.
      const turn = Math.min(reserve(key), init.maxMs);
      return Math.max(backoffDelay(count, init), turn);
    },
    failures: (key) => failures.get(key) ?? 0,
    forget: (key) => {
      failures.delete(key);
    },
  };
}

/** Returns a function that reserves a retry of a key, with the milliseconds until it may happen. */
function createFlowReservations({
  overall,
  flowOf = () => '',
}: RateLimiterInit): (key: string) => number {
  if (overall === undefined) return () => 0;
  // Above this number, the flow with the oldest retry may start a new burst.
  const flows = new BoundedMap<string, () => number>(MAX_FLOWS);
  return (key) => {
    const flow = flowOf(key);
    const reserve = flows.get(flow) ?? createReservations(overall);
    // Set at each retry, so that the flow whose last retry is oldest is evicted first.
    flows.set(flow, reserve);
    return reserve();
  };
}
