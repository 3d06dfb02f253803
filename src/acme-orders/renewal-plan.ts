// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '../hash.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The life of an issued certificate, and what its server says of it. Milliseconds since 1970. */
export interface IssuedLife {
  readonly notBefore: number;
  readonly notAfter: number;
  /** RFC 9773's window, if the server gave one. */
  readonly window?: { readonly start: number; readonly end: number } | undefined;
}

/** Below it half of the life is left for retries, above it a third. */
const SHORT_LIFE = 10 * DAY;

/**
 * When a certificate is to be renewed: at a moment of the server's window that is its own (RFC 9773 §4.2), or after a
 * share of its *issued* life. Never a fixed number of days: lives of 160 hours and of 45 days need no setting.
 *
 * @param id - spreads certificates over a window; the same one has the same moment each time
 */
export function renewAt({ notBefore, notAfter, window }: IssuedLife, id: string): number {
  if (window !== undefined && window.start < window.end && window.start < notAfter) {
    const share = fnv1a(id) / 2 ** 32;
    // A window that ends after the certificate does is cut: what has expired is not renewed in time.
    return window.start + Math.floor(share * (Math.min(window.end, notAfter) - window.start));
  }
  const life = notAfter - notBefore;
  return notBefore + Math.floor(life * (life < SHORT_LIFE ? 1 / 2 : 2 / 3));
}

const SOONEST_POLL = HOUR;
const LATEST_POLL = 7 * DAY;
/** RFC 9773 §4.3.3 lets a client choose where the server says nothing: what Let's Encrypt asks for. */
const USUAL_POLL = 6 * HOUR;

/**
 * How long until the window is asked for again.
 *
 * @param retryAfterMs - of the last answer; an hour at least and a week at most are obeyed
 * @param failures - answers in a row that were none
 */
export function renewalPollMs(retryAfterMs: number | undefined, failures: number): number {
  if (failures > 0) return Math.min(MINUTE * 2 ** Math.min(failures - 1, 20), USUAL_POLL);
  return Math.min(Math.max(retryAfterMs ?? USUAL_POLL, SOONEST_POLL), LATEST_POLL);
}
