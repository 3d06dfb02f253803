// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../ports.ts';

const FIRST_MS = 250;
const MAX_MS = 15_000;
/** Without anything to restore for so long, the next time is as the first. */
const FORGIVEN_MS = 60_000;

/**
 * Keeps two who write the same field from writing as fast as they can. The first restoration of an object is immediate, each
 * one that follows waits twice as long as the one before. Other objects do not wait for it.
 */
export interface Restraint {
  /** Milliseconds of our clock before which the object is left alone; undefined: it need not wait. */
  readonly until: (object: string) => number | undefined;
  /** A pass has restored it. */
  readonly restored: (object: string) => void;
}

/** @returns one that holds nothing back yet */
export function createRestraint(clock: Clock): Restraint {
  const known = new Map<string, { readonly at: number; readonly wait: number }>();
  return {
    until: (object) => {
      const last = known.get(object);
      const until = last === undefined ? 0 : last.at + last.wait;
      return clock() < until ? until : undefined;
    },
    restored: (object) => {
      const [now, last] = [clock(), known.get(object)];
      const forgiven = last === undefined || now - last.at > FORGIVEN_MS;
      known.set(object, { at: now, wait: forgiven ? FIRST_MS : Math.min(last.wait * 2, MAX_MS) });
    },
  };
}
