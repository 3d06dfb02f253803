// SPDX-License-Identifier: Apache-2.0
import type { SolverOutcome } from '../solving/solver.ts';
import { isToBePresented, type Challenge } from '#api/acme/challenge.ts';

/** Calls of a solver. */
export type SolverTask = 'present' | 'cleanUp';

/**
 * Returns the call that a Challenge needs now.
 *
 * @param touched - whether this process called a solver to present it, and has not cleaned up. Its
 *   status write can be lost
 */
export function taskOf(challenge: Challenge, touched: boolean): SolverTask | undefined {
  const isThere = challenge.status.solver?.presented === true;
  if (isToBePresented(challenge)) return isThere ? undefined : 'present';
  return isThere || touched ? 'cleanUp' : undefined;
}

const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 5 * 60_000;
const LONGEST_ASKED_MS = 3_600_000;

/**
 * Returns the consecutive failures after an outcome. A failure with a duration lengthens no other
 * wait.
 */
export function failuresAfter(failures: number, outcome: SolverOutcome): number {
  if (outcome.kind === 'done') return 0;
  return outcome.retryAfterMs === undefined ? failures + 1 : Math.max(1, failures);
}

/**
 * Returns the wait after a solver failed.
 *
 * @param failures - consecutive failures including this one
 * @param asked - wait that the other side requests, in milliseconds
 */
export function solverWait(failures: number, asked = 0): number {
  const own = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 16), LONGEST_WAIT_MS);
  return Math.max(own, Math.min(asked, LONGEST_ASKED_MS));
}
