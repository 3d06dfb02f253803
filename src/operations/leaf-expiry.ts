// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { LATE_SIGNING_MS } from '#ca/rotation/authorities.ts';
import type { SignerState } from './signer-state.ts';

/**
 * Returns the time until which a leaf of the CA can be valid. While the CA signs, this is an
 * estimate, bounded by the CA's notAfter, which no leaf outlives.
 */
export function leafExpiryText(state: SignerState, authority: AuthorityStatus): string {
  const { fingerprint, phase, leavesExpireBy, notAfter } = authority;
  if (leavesExpireBy !== undefined)
    return `no leaf of ${fingerprint} is valid after ${leavesExpireBy}`;
  if (phase === 'Prepared') return `no leaf of ${fingerprint} exists`;
  const { now, propagationSeconds } = state;
  const stops = now + propagationSeconds * 1000 + LATE_SIGNING_MS;
  const last = stops + parseDuration(authority.longestLeaf) * 1000;
  const estimate = formatTime(Math.min(last, parseTime(notAfter)));
  return `leaves of ${fingerprint} may be valid until about ${estimate}, and never after ${notAfter}; the exact time is known once the CA has stopped signing`;
}
