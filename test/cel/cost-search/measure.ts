// SPDX-License-Identifier: Apache-2.0
/** What something took, in CPU time of this thread: other processes do not count. */

/** What one unit of a price stands for, in milliseconds. */
export const UNIT_MS = 20e-6;
/** Shorter runs are no news, and cannot be measured. */
export const LEAST_MS = 1;

/** What one subject took at once. */
export interface Finding {
  /** What was searched: expressions of an environment, patterns, specs. */
  readonly kind: string;
  readonly source: string;
  readonly ms: number;
  /** Time over price; 0 where nothing promises a price. */
  readonly ratio: number;
}

/** The thread's milliseconds that `action` took. */
export function threadMs(action: () => unknown): number {
  const before = process.threadCpuUsage();
  action();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * The least of some runs that each begin with `prepare`, which is not measured. Collecting garbage and optimizing code
 * are work of the engine, once for many runs.
 */
export function leastMs(times: number, prepare: () => () => unknown): number {
  let least = Infinity;
  for (let time = 0; time < times; time += 1) {
    const action = prepare();
    least = Math.min(least, threadMs(action));
    if (least < LEAST_MS) return least;
  }
  return least;
}
