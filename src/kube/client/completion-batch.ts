// SPDX-License-Identifier: Apache-2.0

/** Runs functions at the end of the current turn of the event loop, in the order of the calls. */
export type CompletionBatch = (run: () => void) => void;

/**
 * A larger number would keep the event loop from its sockets: the work for each response runs in
 * the same turn.
 */
const MAX_IN_A_SLICE = 8;

/**
 * Creates a batch for responses of several connections that arrive in one turn. All are read before
 * the first is processed, because reading and processing share no CPU caches. Each turn completes
 * eight, in the order of their arrival.
 */
export function createCompletionBatch(): CompletionBatch {
  let waiting: (() => void)[] = [];

  function runAll(): void {
    const now = waiting.slice(0, MAX_IN_A_SLICE);
    waiting = waiting.slice(MAX_IN_A_SLICE);
    if (waiting.length > 0) setImmediate(runAll);
    for (const run of now) run();
  }

  return (run) => {
    if (waiting.push(run) === 1) setImmediate(runAll);
  };
}
