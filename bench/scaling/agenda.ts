// SPDX-License-Identifier: Apache-2.0
import { createHeap } from '#kube/workqueue/heap.ts';

/** What happens when, on a clock that is simulated; in microseconds. */
export interface Agenda {
  readonly now: () => number;
  readonly at: (time: number, run: () => void) => void;
  /** Lets everything happen that is to happen, in order; of one moment in the order of asking. */
  readonly run: () => void;
}

export function createAgenda(): Agenda {
  interface Entry {
    readonly time: number;
    readonly turn: number;
    readonly run: () => void;
  }
  const entries = createHeap<Entry>((a, b) =>
    a.time === b.time ? a.turn < b.turn : a.time < b.time,
  );
  let [now, turns] = [0, 0];
  return {
    now: () => now,
    at: (time, run) => {
      turns += 1;
      entries.push({ time: Math.max(time, now), turn: turns, run });
    },
    run: () => {
      for (let next = entries.shift(); next !== undefined; next = entries.shift()) {
        now = next.time;
        next.run();
      }
    },
  };
}

/** Cores that work on one thing each, in the order of asking. */
export interface Cores {
  /** Takes `cost` of the core that is free first. @returns when that is done */
  readonly take: (now: number, cost: number) => number;
  /** Microseconds of all of them that were taken. */
  readonly taken: () => number;
}

export function createCores(count: number): Cores {
  const free = Array.from({ length: count }, () => 0);
  let sum = 0;
  return {
    take: (now, cost) => {
      let first = 0;
      for (let core = 1; core < count; core += 1) {
        if ((free[core] ?? 0) < (free[first] ?? 0)) first = core;
      }
      const done = Math.max(now, free[first] ?? 0) + cost;
      free[first] = done;
      sum += cost;
      return done;
    },
    taken: () => sum,
  };
}
