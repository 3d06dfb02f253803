// SPDX-License-Identifier: Apache-2.0
import type { CaCertificate } from './ca-certificate.ts';
import type { DesiredCa } from './desired-ca.ts';

/**
 * The share of a CA's lifetime by which an outage may delay its successor, before leaves get
 * shorter than the profile allows. It is at most an hour, which covers a restart of all components.
 */
const DELAY_SHARE = 20;
const MAX_DELAY_SECONDS = 3_600;

/**
 * The minimum age of a replaced CA, whatever its durations are. A spec that requests a new CA each
 * second gets one a minute, which does not flood the API server.
 */
const MIN_AGE_SECONDS = 60;

/**
 * The time at which a CA's successor is due by time alone, and which of the two deadlines decides.
 */
export interface RenewalTime {
  /** Milliseconds. */
  readonly at: number;
  readonly reason: 'RenewBefore' | 'LongestLeaf';
}

/**
 * Returns the earlier of two deadlines. One is `renewBefore` before the CA's own end. The other is
 * early enough that, once the successor is created and every kubelet has its anchor, the CA still
 * outlives the longest leaf. So no CA ever shortens a leaf, and no pod's leaf falls below the API's
 * hour.
 */
export function renewalTime(
  ca: CaCertificate,
  desired: DesiredCa,
  propagationSeconds: number,
): RenewalTime {
  const byRenewBefore = ca.notAfter - renewBeforeSeconds(ca, desired) * 1000;
  const byLeaf = latestStart(ca, desired, propagationSeconds);
  const at = Math.max(ca.bornAt + MIN_AGE_SECONDS * 1000, Math.min(byRenewBefore, byLeaf));
  return { at, reason: byLeaf <= byRenewBefore ? 'LongestLeaf' : 'RenewBefore' };
}

/** The share of a shorter life than requested that is left when the successor is due. */
const GRANTED_RENEW_SHARE = 5;

/**
 * Returns `renewBefore`. If an upstream CA granted so little that half of it would be over by then,
 * the last fifth of what it granted counts.
 */
function renewBeforeSeconds(ca: CaCertificate, desired: DesiredCa): number {
  const life = lifeSeconds(ca);
  const isTooLong = ca.isUpstream === true && desired.renewBeforeSeconds > life / 2;
  return isTooLong ? Math.floor(life / GRANTED_RENEW_SHARE) : desired.renewBeforeSeconds;
}

/** Returns the life of a CA: what was requested, or less if an upstream CA granted less. */
function lifeSeconds({ isUpstream, durationSeconds, bornAt, notAfter }: CaCertificate): number {
  const granted = Math.max(0, Math.floor((notAfter - bornAt) / 1000));
  return isUpstream === true ? Math.min(durationSeconds, granted) : durationSeconds;
}

/** Returns the latest start of a rotation. After it, the end of the CA shortens leaves. */
export function latestStart(
  ca: CaCertificate,
  desired: DesiredCa,
  propagationSeconds: number,
): number {
  const { longestLeafSeconds } = desired;
  return ca.notAfter - (longestLeafSeconds + propagationSeconds + allowedDelaySeconds(ca)) * 1000;
}

/**
 * Reports whether a prepared CA has waited too long to become active. It always gets the time to be
 * published, even if its durations leave it no time to sign.
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

/** Returns the delay of a successor after which the end of its CA shortens leaves. */
export function allowedDelaySeconds(ca: CaCertificate): number {
  return Math.min(MAX_DELAY_SECONDS, Math.floor(lifeSeconds(ca) / DELAY_SHARE));
}
