// SPDX-License-Identifier: Apache-2.0
/** How much of this thread's time Signers may use between two looks at timers and sockets. */
import { createFifo } from '../../kube/workqueue/fifo.ts';

/**
 * Milliseconds in one turn of the event loop, for all Signers together. We promise 20, and termination takes
 * some of them. The thread's own CPU time counts.
 */
export const SLICE_MS = 13;

/**
 * What was used since the last tick, and between that tick and the one before it. A tick comes once in each turn,
 * so that any turn, wherever it is taken to begin, lies within two of these spans. Each thread has one event
 * loop, so there is one of these. `claimed`: somebody who waited for a turn has this one. `count`: of
 * ticks.
 */
const used = { before: 0, since: 0, claimed: false, ticks: false, count: 0 };

/**
 * Work that waits for a turn begins with at least this much of it: with less it would only run twice, and compiling
 * takes time.
 */
const LEAST_TO_BEGIN_MS = SLICE_MS / 2;

/** For how many turns work waits for one that others have not used up. It keeps a worker from other requests. */
export const MAX_TURNS = 50;

/** Somebody who waits for a turn. */
interface Waiting {
  /** Its last tick. */
  readonly until: number;
  /** With whether it has a turn. */
  readonly resolve: (hasTurn: boolean) => void;
}

/** Who waits for a turn, first in, first out: who is at the head has waited longest. */
const line = createFifo<Waiting>();

/** The milliseconds that are left of this turn, at most {@link SLICE_MS}. */
export function leftOfTurn(): number {
  return SLICE_MS - used.before - used.since;
}

/**
 * Resolves in a turn that has time left: at once if this one has, and nobody else came. Of all that come, one begins in
 * a turn. If all of them did, each would do what comes before its expressions, only to learn that the first one has used
 * the turn up.
 *
 * @returns false where others have used up {@link MAX_TURNS} turns
 */
export async function turnWithTime(): Promise<boolean> {
  watchTicks();
  if (!used.claimed && line.length === 0 && leftOfTurn() >= LEAST_TO_BEGIN_MS) {
    used.claimed = true;
    return true;
  }
  return new Promise((resolve) => {
    line.push({ until: used.count + MAX_TURNS, resolve });
  });
}

/** Counts milliseconds of the thread's CPU time as used. */
export function useTurn(milliseconds: number): void {
  used.since += milliseconds;
  watchTicks();
}

function watchTicks(): void {
  if (used.ticks) return;
  used.ticks = true;
  setImmediate(tick);
}

function tick(): void {
  used.before = used.since;
  used.since = 0;
  used.count += 1;
  const next = leftOfTurn() >= LEAST_TO_BEGIN_MS ? line.shift() : undefined;
  used.claimed = next !== undefined;
  next?.resolve(true);
  while ((line.peek()?.until ?? Infinity) <= used.count) line.shift()?.resolve(false);
  used.ticks = used.claimed || used.before > 0 || line.length > 0;
  if (used.ticks) setImmediate(tick);
}
