// SPDX-License-Identifier: Apache-2.0

/** Estimates how far a local clock is ahead of the server's, from the server's Date headers. */
export interface ClockOffset {
  /**
   * Adds a response with this Date (milliseconds) to a request that began and ended at these times of our clock. The
   * server made it in between, in the second of Date (RFC 9110 §6.6.1: whole seconds).
   */
  readonly observe: (date: number, begun: number, ended: number) => void;
  /** Milliseconds, positive where our clock is ahead; undefined before the first response. */
  readonly value: () => number | undefined;
}

const GRAIN_MS = 1_000;
/** Clocks drift by less than a thousandth; older intervals are widened by it. */
const DRIFT = 0.001;

/**
 * Each response gives an interval in which the offset lies, a second long or a little more; their intersection is much
 * shorter. An interval outside of it shows that a clock was set. A slow response gives a long interval, because its
 * Date may be old.
 */
export function createClockOffset(): ClockOffset {
  let least = -Infinity;
  let most = Infinity;
  let last = 0;
  return {
    observe: (date, begun, ended) => {
      // Our clock was set during the request.
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
