// SPDX-License-Identifier: Apache-2.0
/** Clocks, timers and randomness of the process. All other code gets them as parameters. */
import { randomFillSync } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartTimer } from '#kube/workqueue/delaying-queue.ts';
import type { Clock, Delay, Monotonic, Random } from '#base/ports.ts';
import { createPooledRandom } from './random.ts';

/** The system clock, in milliseconds since 1970. It may be set forwards or back. */
export const clock: Clock = () => Date.now();

/**
 * Milliseconds of a monotonic clock. It cannot be set, and continues while the process is stopped.
 */
export const monotonic: Monotonic = () => performance.now();

/** Resolves after some milliseconds. Rejects with the reason of an aborted signal. */
export const delay: Delay = async (milliseconds, signal) => {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
};

/** `setTimeout` with a function that cancels it. */
export const startTimer: StartTimer = (ms, action) => {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
};

/** Cryptographically secure bytes of the system. */
export const random: Random = createPooledRandom((bytes) => {
  randomFillSync(bytes);
});
