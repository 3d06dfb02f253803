// SPDX-License-Identifier: Apache-2.0
import { fnv1a } from '#base/hash.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

/** Validity of an issued certificate, and the server's renewal window. Milliseconds since 1970. */
export interface IssuedLife {
  readonly notBefore: number;
  readonly notAfter: number;
  /** RFC 9773 window, if the server gave one. */
  readonly window?: { readonly start: number; readonly end: number } | undefined;
}

/**
 * Limit of a short validity. Below it half of the validity remains for retries, above it a third.
 */
const SHORT_LIFE = 10 * DAY;

/**
 * Returns the renewal time of a certificate. Within the server's window it is a point of the
 * certificate's own (RFC 9773 §4.2). Otherwise it follows a share of the *issued* validity. Never a
 * fixed number of days: 160 hours and 45 days need no setting.
 *
 * @param id - spreads certificates over a window. Equal ids get equal times
 */
export function renewAt({ notBefore, notAfter, window }: IssuedLife, id: string): number {
  if (window !== undefined && window.start < window.end && window.start < notAfter) {
    const share = fnv1a(id) / 2 ** 32;
    // Cut a window that ends after the certificate, so that the renewal happens before the expiry.
    return window.start + Math.floor(share * (Math.min(window.end, notAfter) - window.start));
  }
  const life = notAfter - notBefore;
  return notBefore + Math.floor(life * (life < SHORT_LIFE ? 1 / 2 : 2 / 3));
}
