// SPDX-License-Identifier: Apache-2.0

/** Estimates how far a local clock is ahead of the server's, from the server's Date headers. */
export interface ClockOffset {
  /**
   * Adds a response with this Date in milliseconds. Its request began and ended at these times of
   * the local clock. The server created it in between, within the second of Date (RFC 9110 §6.6.1:
   * whole seconds).
   */
  readonly observe: (date: number, begun: number, ended: number) => void;
  /**
   * Returns milliseconds, positive if the local clock is ahead. Undefined before the first
   * response.
   */
  readonly value: () => number | undefined;
}

const GRAIN_MS = 1_000;
/** Clocks drift by less than a thousandth, so older intervals grow by that. */
const DRIFT = 0.001;

/**
 * Estimates an offset from intervals. Each response gives one of a second or a little more, and
 * their intersection is much shorter. An interval outside of it shows that a clock was set. A slow
 * response gives a long interval, because its Date may be old.
 */
export function createClockOffset(): ClockOffset {
  let least = -Infinity;
  let most = Infinity;
  let last = 0;
  return {
    observe: (date, begun, ended) => {
      // The local clock was set during the request.
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
