// SPDX-License-Identifier: Apache-2.0
import { isToBePresented, type Challenge } from '../../api/acme/index.ts';

/** What a solver is called for. */
export type SolverTask = 'present' | 'cleanUp';

/**
 * What is to be done for a Challenge now.
 *
 * @param touched - whether this process called a solver to present it, and has not cleaned up: its note can be lost
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
 * How long a solver that failed is not called.
 *
 * @param failures - in a row, this one included
 * @param asked - what the other side asks for, in milliseconds
 */
export function solverWait(failures: number, asked = 0): number {
  const own = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 16), LONGEST_WAIT_MS);
  return Math.max(own, Math.min(asked, LONGEST_ASKED_MS));
}
