// SPDX-License-Identifier: Apache-2.0
/** How much of this thread's time Signers may use between two looks at timers and sockets. */

/**
 * Milliseconds in one turn of the event loop, for all Signers together. We promise 20, and termination takes
 * some of them. The thread's own CPU time counts.
 */
export const SLICE_MS = 15;

/**
 * What was used since the last tick, and between that tick and the one before it. A tick comes once in each turn,
 * so that any turn, wherever it is taken to begin, lies within two of these spans. Each thread has one event
 * loop, so there is one of these.
 */
const used = { before: 0, since: 0, ticks: false };

/** The milliseconds that are left of this turn, at most {@link SLICE_MS}. */
export function leftOfTurn(): number {
  return SLICE_MS - used.before - used.since;
}

/** Counts milliseconds of the thread's CPU time as used. */
export function useTurn(milliseconds: number): void {
  used.since += milliseconds;
  if (used.ticks) return;
  used.ticks = true;
  setImmediate(tick);
}

function tick(): void {
  used.before = used.since;
  used.since = 0;
  used.ticks = used.before > 0;
  if (used.ticks) setImmediate(tick);
}
