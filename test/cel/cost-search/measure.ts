// SPDX-License-Identifier: Apache-2.0
/** What something took, in CPU time of this thread: other processes do not count. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pause } from './pause.ts';

/** What one unit of a price stands for, in milliseconds. */
export const UNIT_MS = 20e-6;
/** Shorter runs are no news, and cannot be measured. */
export const MIN_MS = 1;

/** What one subject took at once. */
export interface Finding {
  /** What was searched: expressions of an environment, patterns, specs. */
  readonly kind: string;
  readonly source: string;
  readonly ms: number;
  /**
   * How it holds the event loop in a component; absent where it runs under the watchdog there, or
   * is cheap enough by its price.
   */
  readonly pause?: Pause;
  /** Time over price; 0 where nothing promises a price. */
  readonly ratio: number;
  /** Measures the same subject again, which it holds in memory. */
  readonly again: () => Promise<Finding>;
}

/** A finding without its subject: a compiled spec may hold megabytes. */
export type Measured = Omit<Finding, 'again'>;

/** Returns the figures of a finding. */
export function figuresOf({ again: _, ...figures }: Finding): Measured {
  return figures;
}

/**
 * The kernel counts a thread's CPU time at its ticks: a reading is up to this many milliseconds
 * late.
 */
const TICK_MS = 4;

/**
 * At most so many of the thread's milliseconds `action` took: the clock's count has what it waited
 * for a core, too, and the thread's own count may lack a tick.
 */
export function threadMs(action: () => unknown): number {
  const begun = performance.now();
  const before = process.threadCpuUsage();
  action();
  const { user, system } = process.threadCpuUsage(before);
  return Math.min(performance.now() - begun, (user + system) / 1_000 + TICK_MS);
}

/**
 * What is short is run so often that one of the runs has a core to itself, on a busy machine too,
 * and runs code that the engine has optimized.
 */
const SHORT_MS = 10;
const SHORT_RUNS = 60;

/**
 * The least of some runs that each begin with `prepare`, which is not measured. Collecting garbage
 * and optimizing code are work of the engine, once for many runs. Each run has a turn of the event
 * loop to itself: within one turn the engine keeps all that a weak reference was made to, and sixty
 * compiled patterns would fill the heap.
 */
export async function minMs(times: number, prepare: () => () => unknown): Promise<number> {
  let least = Infinity;
  for (let time = 0; time < (least < SHORT_MS ? SHORT_RUNS : times); time += 1) {
    await nextTurn();
    const action = prepare();
    least = Math.min(least, threadMs(action));
    if (least < MIN_MS) return least;
  }
  return least;
}
