// SPDX-License-Identifier: Apache-2.0
/**
 * Limits the CPU time of this thread that Signers may use before timers and sockets are served
 * again.
 */
import { createFifo } from '#kube/workqueue/fifo.ts';

/**
 * Milliseconds in one turn of the event loop, for all Signers together. ADR 0029 promises at most
 * 20, and termination takes some of them. The thread's own CPU time counts.
 */
export const SLICE_MS = 13;

/**
 * The CPU time used since the last tick, and between that tick and its predecessor.
 *
 * A tick comes once in each turn. So any turn, wherever it is taken to begin, lies within two of
 * these spans. Each thread has one event loop, so there is one of these. `claimed`: a waiting
 * caller has this turn. `count`: the number of ticks.
 */
const used = { before: 0, since: 0, claimed: false, ticks: false, count: 0 };

/**
 * The least CPU time with which waiting work begins. With less it would only run twice, and
 * compiling takes time.
 */
const MIN_TO_BEGIN_MS = SLICE_MS / 2;

/** The number of turns for which work waits. Meanwhile it keeps a worker from other requests. */
export const MAX_TURNS = 50;

/** A caller that waits for CPU time. */
interface SliceWaiter {
  /** Its last tick. */
  readonly until: number;
  /** Resolves with whether it has a turn. */
  readonly resolve: (hasTurn: boolean) => void;
}

/** The callers that wait for a turn, first in, first out. */
const line = createFifo<SliceWaiter>();

/** Returns the milliseconds left of this turn, at most {@link SLICE_MS}. */
export function remainingMs(): number {
  return SLICE_MS - used.before - used.since;
}

/**
 * Resolves in a turn that has time left: at once if this one has, and no other caller came. One
 * caller begins in a turn. If all began, each would run the code before its expressions, only to
 * find that the first one has used the turn up.
 *
 * @returns false if others have used up {@link MAX_TURNS} turns
 */
export async function acquireSlice(): Promise<boolean> {
  watchTicks();
  if (!used.claimed && line.length === 0 && remainingMs() >= MIN_TO_BEGIN_MS) {
    used.claimed = true;
    return true;
  }
  return new Promise((resolve) => {
    line.push({ until: used.count + MAX_TURNS, resolve });
  });
}

/** Counts milliseconds of the thread's CPU time as used. */
export function chargeSlice(milliseconds: number): void {
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
  const next = remainingMs() >= MIN_TO_BEGIN_MS ? line.shift() : undefined;
  used.claimed = next !== undefined;
  next?.resolve(true);
  while ((line.peek()?.until ?? Infinity) <= used.count) line.shift()?.resolve(false);
  used.ticks = used.claimed || used.before > 0 || line.length > 0;
  if (used.ticks) setImmediate(tick);
}
