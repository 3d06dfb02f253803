// SPDX-License-Identifier: Apache-2.0
/** How long work holds the event loop, and how much of that the engine collects garbage. */
import { PerformanceObserver, performance, type PerformanceEntry } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The longest pause of the event loop, in milliseconds of the thread's CPU time. */
export interface Pause {
  /**
   * Without the collection of garbage: who allocated what is collected, and when the engine does
   * it, has little to do with the work that it interrupts. Nothing can end a collection either.
   */
  readonly ms: number;
  /** With it. */
  readonly withGarbageMs: number;
}

/** A turn that took less is no news. */
const MIN_MS = 1;

interface Turn {
  readonly begun: number;
  readonly ended: number;
  readonly cpuMs: number;
}

/** The longest span between two turns of the event loop, while `work` is under way. */
export async function longestPause(work: Promise<unknown>): Promise<Pause> {
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) collections.push(entry);
  });
  observer.observe({ entryTypes: ['gc'] });
  const turns = await turnsOf(work);
  // The entries of a turn are handed over after it.
  await nextTurn();
  for (const entry of observer.takeRecords()) collections.push(entry);
  observer.disconnect();
  const pause = { ms: 0, withGarbageMs: 0 };
  for (const turn of turns) {
    pause.ms = Math.max(pause.ms, turn.cpuMs - collecting(turn, collections));
    pause.withGarbageMs = Math.max(pause.withGarbageMs, turn.cpuMs);
  }
  return pause;
}

async function turnsOf(work: Promise<unknown>): Promise<readonly Turn[]> {
  const state = { isDone: false };
  const done = work.finally(() => {
    state.isDone = true;
  });
  const turns: Turn[] = [];
  while (!state.isDone) {
    const begun = performance.now();
    const before = process.threadCpuUsage();
    await nextTurn();
    const { user, system } = process.threadCpuUsage(before);
    const ended = performance.now();
    // The thread's own count is up to a tick of 4 ms late, here or in the turn before.
    const cpuMs = Math.min(ended - begun, (user + system) / 1_000);
    // While work waits for its budget there are hundreds of thousands of them.
    if (cpuMs >= MIN_MS) turns.push({ begun, ended, cpuMs });
  }
  await done;
  return turns;
}

/**
 * Milliseconds of the thread's CPU time that collections took of a turn. They are measured by the
 * clock, and where the thread had to wait for a core, they waited as much as the rest of the turn.
 */
function collecting(
  { begun, ended, cpuMs }: Turn,
  collections: readonly Pick<PerformanceEntry, 'startTime' | 'duration'>[],
): number {
  const inside = collections.filter(({ startTime }) => startTime >= begun && startTime < ended);
  const clockMs = inside.reduce((sum, { duration }) => sum + duration, 0);
  return clockMs * Math.min(1, cpuMs / (ended - begun));
}
