// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '#base/ports.ts';

const FIRST_MS = 250;
const MAX_MS = 15_000;
/** Time without a restore after which the backoff resets. */
const FORGIVEN_MS = 60_000;

/**
 * Backs off restoring an object that another writer keeps changing. The first restore is immediate,
 * and each further wait doubles. Other objects do not wait.
 */
export interface RestoreBackoff {
  /**
   * Returns the end of the object's wait, in milliseconds of the local clock, or undefined without
   * a wait.
   */
  readonly until: (object: string) => number | undefined;
  /** Records that a pass has restored the object. */
  readonly restored: (object: string) => void;
}

/** Returns a backoff without waits. */
export function createRestoreBackoff(clock: Clock): RestoreBackoff {
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
