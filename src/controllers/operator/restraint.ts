// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';

const FIRST_MS = 250;
const MAX_MS = 15_000;
/** Without anything to restore for so long, the next time is as the first. */
const FORGIVEN_MS = 60_000;

/**
 * Keeps two who write the same field from writing as fast as they can. The first restoration is immediate, each one that
 * follows waits twice as long as the one before.
 */
export interface Restraint {
  /** Milliseconds of our clock before which nothing is compared. */
  readonly until: () => number;
  /** A pass has restored something. */
  readonly restored: () => void;
}

/** @returns one that holds nothing back yet */
export function createRestraint(clock: Clock): Restraint {
  let until = 0;
  let last = -Infinity;
  let wait = FIRST_MS;
  return {
    until: () => until,
    restored: () => {
      const now = clock();
      wait = now - last > FORGIVEN_MS ? FIRST_MS : Math.min(wait * 2, MAX_MS);
      last = now;
      until = now + wait;
    },
  };
}
