// SPDX-License-Identifier: Apache-2.0

/** Runs functions at the end of the current turn of the event loop, in the order of the calls. */
export type CompletionBatch = (run: () => void) => void;

/**
 * Responses of several connections arrive in one turn. They are all read before the first is worked on: reading and
 * working share no CPU caches.
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
