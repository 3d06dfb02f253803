// SPDX-License-Identifier: Apache-2.0

/** How far a clock of ours is ahead of the server's, from what the server's Date headers allow. */
export interface ClockOffset {
  /**
   * An answer with this Date (milliseconds) to what was begun and ended then by our clock. The
   * server made it in between, in the second that Date names (RFC 9110 §6.6.1 has whole seconds).
   */
  readonly observe: (date: number, begun: number, ended: number) => void;
  /** Milliseconds, positive where our clock is ahead; undefined before the first answer. */
  readonly value: () => number | undefined;
}

const GRAIN_MS = 1_000;
/** Clocks drift by less than this, a thousandth: what was seen grows old. */
const DRIFT = 0.001;

/**
 * Each answer leaves an interval in which the offset lies, a second long or a little more; all of
 * them together leave a much shorter one. One that fits no more says that a clock was set. An answer
 * that took long leaves a long one, which says little: its Date may be an old one.
 */
export function createClockOffset(): ClockOffset {
  let least = -Infinity;
  let most = Infinity;
  let last = 0;
  return {
    observe: (date, begun, ended) => {
      // Our clock was set meanwhile.
      if (begun > ended) return;
      const aged = Math.abs(ended - last) * DRIFT;
      last = ended;
      const [low, high] = [begun - date - GRAIN_MS, ended - date];
      least = Math.max(least - aged, low);
      most = Math.min(most + aged, high);
      if (least > most) [least, most] = [low, high];
    },
    value: () => (most === Infinity ? undefined : (least + most) / 2),
  };
}
