// SPDX-License-Identifier: Apache-2.0

/** What an administrator says of how often endpoints are asked. */
export interface Pace {
  /** No trust domain is asked more often than this: seconds. */
  readonly shortestSeconds: number;
  /** How long a bundle is kept without a good answer: seconds. */
  readonly keepSeconds: number;
}

/** The specification's default (SPIFFE Federation §4.1), and the longest that is waited whatever the hint says. */
const DEFAULT_REFRESH_SECONDS = 300;
const MOST_REFRESH_SECONDS = 3600;
/** As many looks go wrong before a bundle is dropped. */
const LOOKS_A_KEEP = 4;

/**
 * How long to wait for the next look, in seconds: as the endpoint suggests, between the bounds. After a look that was not
 * good it comes earlier, then twice as late each time: what is wrong for a minute must not make a bundle old.
 *
 * @param hint - `spiffe_refresh_hint` of the bundle that was taken last
 * @param failures - looks in a row that were not good
 */
export function nextLook(
  hint: number | undefined,
  failures: number,
  { shortestSeconds, keepSeconds }: Pace,
): number {
  const most = Math.min(MOST_REFRESH_SECONDS, keepSeconds / LOOKS_A_KEEP);
  const regular = Math.max(shortestSeconds, Math.min(hint ?? DEFAULT_REFRESH_SECONDS, most));
  if (failures === 0) return regular;
  return Math.min(regular, shortestSeconds * 2 ** (failures - 1));
}
