// SPDX-License-Identifier: Apache-2.0

/** Runs what it is given at the end of this turn of the event loop, in the order in which it came. */
export type CompletionBatch = (run: () => void) => void;

/**
 * Answers of several connections come in one turn, each read by itself. What follows from them is done
 * when all are read, one after the other: reading and working share no caches.
 */
export function createCompletionBatch(): CompletionBatch {
  let waiting: (() => void)[] = [];

  function runAll(): void {
    const all = waiting;
    waiting = [];
    for (const run of all) run();
  }

  return (run) => {
    if (waiting.push(run) === 1) setImmediate(runAll);
  };
}
