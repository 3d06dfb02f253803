// SPDX-License-Identifier: Apache-2.0
import { readdirSync } from 'node:fs';

import { readThreadTimes } from './thread-counters.ts';

/**
 * How long the threads of a process have been ready to run and waited for a core so far, in
 * milliseconds; 0: there is no such process.
 *
 * @param threads - `first`: that of Node's event loop; `all`: of a program whose work may be on any
 *   of them, as in Go
 */
function runDelayOf({ pid, threads }: WaitingProcess): number {
  try {
    const ids = threads === 'first' ? [String(pid)] : readdirSync(`/proc/${pid}/task`);
    return ids.reduce((sum, id) => sum + readThreadTimes(pid, id).waits, 0) / 1_000;
  } catch {
    return 0;
  }
}

/** A process whose threads may wait for a core. */
export interface WaitingProcess {
  readonly pid: number;
  readonly threads: 'first' | 'all';
}

/**
 * Starts to measure how long processes wait for a core.
 *
 * @returns ends it: milliseconds of each second, by process, in the same order
 */
export function measureRunDelays(processes: readonly WaitingProcess[]): () => readonly number[] {
  const begun = performance.now();
  const before = processes.map(runDelayOf);
  return () => {
    const seconds = (performance.now() - begun) / 1000;
    return processes.map((each, index) => (runDelayOf(each) - (before[index] ?? 0)) / seconds);
  };
}
