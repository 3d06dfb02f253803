// SPDX-License-Identifier: Apache-2.0

/** An administrator's limits for fetching. */
export interface Pace {
  /** Minimum seconds between two fetches of a trust domain. */
  readonly shortestSeconds: number;
  /** Seconds to keep a bundle without a good answer. */
  readonly keepSeconds: number;
}

/** The default of SPIFFE Federation §4.1. */
const DEFAULT_REFRESH_SECONDS = 300;
/** Limit on the interval, whatever the hint is. */
const MAX_REFRESH_SECONDS = 3600;
/** Number of fetches that may fail before a bundle is dropped. */
const FETCHES_BEFORE_DROP = 4;

/**
 * Returns the seconds until the next fetch: the endpoint's hint, within the bounds. A failed fetch
 * is retried sooner, with doubling delays, so that a short outage does not make a bundle stale.
 *
 * @param hint - `spiffe_refresh_hint` of the latest accepted bundle
 * @param failures - consecutive failed fetches
 */
export function secondsToNextFetch(
  hint: number | undefined,
  failures: number,
  { shortestSeconds, keepSeconds }: Pace,
): number {
  const most = Math.min(MAX_REFRESH_SECONDS, keepSeconds / FETCHES_BEFORE_DROP);
  const regular = Math.max(shortestSeconds, Math.min(hint ?? DEFAULT_REFRESH_SECONDS, most));
  if (failures === 0) return regular;
  return Math.min(regular, shortestSeconds * 2 ** (failures - 1));
}
