// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../api/signer/cluster-signer.ts';
import { parseDuration } from '../api/object/duration.ts';
import { formatTime, parseTime } from '../api/object/time.ts';
import { LATE_SIGNING_MS } from '../rotation/authorities.ts';
import type { SignerState } from './signer-state.ts';

/**
 * The latest moment at which a leaf of the CA can be valid, in words. While it signs there is only an
 * estimate, and the CA's own end, which no leaf outlives.
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
  return `leaves of ${fingerprint} may be valid until about ${estimate}, and never after ${notAfter}; the exact moment is known once it signs no more`;
}

/**
 * Milliseconds: what was issued later is of another CA. Undefined while it signs, and where its own
 * end cut `leavesExpireBy` short, so that nobody can tell from that when it stopped.
 */
export function stoppedSigningBy({
  leavesExpireBy,
  longestLeaf,
  notAfter,
}: AuthorityStatus): number | undefined {
  if (leavesExpireBy === undefined || parseTime(leavesExpireBy) >= parseTime(notAfter)) {
    return undefined;
  }
  return parseTime(leavesExpireBy) - parseDuration(longestLeaf) * 1000;
}
