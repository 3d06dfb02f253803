// SPDX-License-Identifier: Apache-2.0
import type { CaCertificate } from './ca-certificate.ts';
import type { DesiredCa } from './desired-ca.ts';

/**
 * Fraction of a CA's lifetime that a successor may be late, because of an outage, before leaves get shorter
 * than they should be; at most an hour, which covers a restart of all components.
 */
const DELAY_SHARE = 20;
const MAX_DELAY_SECONDS = 3_600;

/**
 * No CA is replaced for its age within a minute of its creation, whatever its durations say: a spec that
 * asks for a new CA each second gets one a minute, and the API server is not flooded.
 */
const MIN_AGE_SECONDS = 60;

/** When a CA's successor is due by time alone, and which of the two deadlines decides. */
export interface RenewalTime {
  /** Milliseconds. */
  readonly at: number;
  readonly reason: 'RenewBefore' | 'LongestLeaf';
}

/**
 * The earlier of two ends: `renewBefore` before the CA's own; and early enough that, once the
 * successor is made and every kubelet has its anchor, the CA still outlives the longest leaf. So no
 * leaf is ever cut short by its CA, and no pod's falls below the API's hour.
 */
export function renewalTime(
  ca: CaCertificate,
  desired: DesiredCa,
  propagationSeconds: number,
): RenewalTime {
  const byRenewBefore = ca.notAfter - desired.renewBeforeSeconds * 1000;
  const byLeaf = latestStart(ca, desired, propagationSeconds);
  const at = Math.max(ca.bornAt + MIN_AGE_SECONDS * 1000, Math.min(byRenewBefore, byLeaf));
  return { at, reason: byLeaf <= byRenewBefore ? 'LongestLeaf' : 'RenewBefore' };
}

/** Until when a rotation can wait: if it starts later, leaves are cut short by the end of their CA. */
export function latestStart(
  ca: CaCertificate,
  desired: DesiredCa,
  propagationSeconds: number,
): number {
  const { longestLeafSeconds } = desired;
  return ca.notAfter - (longestLeafSeconds + propagationSeconds + allowedDelaySeconds(ca)) * 1000;
}

/**
 * Whether a prepared CA has waited too long to become active. It always gets the time to be published,
 * even if its durations leave it no time to sign.
 */
export function isTooLate(
  ca: CaCertificate,
  desired: DesiredCa,
  propagationSeconds: number,
  now: number,
): boolean {
  const { at } = renewalTime(ca, desired, propagationSeconds);
  const published = ca.bornAt + (2 * propagationSeconds + allowedDelaySeconds(ca)) * 1000;
  return now >= Math.max(at, published);
}

/** How late a successor may be before leaves are cut short by the end of their CA. */
export function allowedDelaySeconds({ durationSeconds }: CaCertificate): number {
  return Math.min(MAX_DELAY_SECONDS, Math.floor(durationSeconds / DELAY_SHARE));
}
