// SPDX-License-Identifier: Apache-2.0
import { formatDuration } from '#api/object/duration.ts';
import { formatTime } from '#api/object/time.ts';
import type { RequestedRotation } from './requested-rotation.ts';
import { latestStart, renewalTime } from './renewal-time.ts';
import type { CaCertificate } from './ca-certificate.ts';
import type { DesiredCa } from './desired-ca.ts';

/** The reason why a CA must be replaced, for the condition RotationDue. */
export interface RotationReason {
  readonly reason:
    | 'KeyLost'
    | 'KeyUnusable'
    | 'Distrusted'
    | 'LongestLeaf'
    | 'RenewBefore'
    | 'DurationChanged'
    | 'KeyTypeChanged'
    | 'SubjectChanged'
    | 'UpstreamChanged'
    | 'Requested';
  readonly message: string;
  /** True if it can wait without harm until old CAs are gone. */
  readonly canWait: boolean;
}

export interface RotationReasonInput {
  readonly active: CaCertificate;
  /** The time at which it became Active. */
  readonly activatedAt: number;
  readonly desired: DesiredCa;
  readonly requested: RequestedRotation;
  readonly propagationSeconds: number;
  readonly now: number;
}

/** Returns why to replace a CA that can sign. Undefined if there is no reason. */
export function rotationReason(input: RotationReasonInput): RotationReason | undefined {
  const { active, desired, requested, propagationSeconds, now } = input;
  if (now >= latestStart(active, desired, propagationSeconds)) {
    const message = `the CA expires at ${formatTime(active.notAfter)} and soon cuts leaves of ${desired.longestLeafSeconds} s short`;
    const { at } = renewalTime(active, desired, propagationSeconds);
    // Within a minute of its creation another one would be no better.
    return now >= at ? { reason: 'LongestLeaf', message, canWait: false } : undefined;
  }
  const other = driftOf(active, desired);
  if (other !== undefined) return other;
  const { at, reason } = renewalTime(active, desired, propagationSeconds);
  if (now >= at) {
    const message = `the CA expires at ${formatTime(active.notAfter)}; its successor has been due since ${formatTime(at)}`;
    return { reason, message, canWait: true };
  }
  if (requested.rotateAt === undefined || now < requested.rotateAt) return undefined;
  if (input.activatedAt >= requested.rotateAt) return undefined;
  const message = `a rotation was requested for ${formatTime(requested.rotateAt)}`;
  return { reason: 'Requested', message, canWait: true };
}

/** Returns how a CA differs from the spec, or undefined if it does not. Ignores its age. */
export function driftOf(ca: CaCertificate, desired: DesiredCa): RotationReason | undefined {
  const [was = false, is = false] = [ca.isUpstream, desired.hasUpstream];
  if (was !== is) {
    const message = is
      ? 'spec.authority.managed.upstream is set, but the CA signed its own certificate'
      : 'spec.authority.managed.upstream is not set, but another CA signed the certificate of the CA';
    return { reason: 'UpstreamChanged', message, canWait: true };
  }
  if (ca.durationSeconds !== desired.durationSeconds) {
    const was = formatDuration(ca.durationSeconds);
    return changed('DurationChanged', 'duration', was, formatDuration(desired.durationSeconds));
  }
  if (ca.keyType !== desired.keyType) {
    return changed('KeyTypeChanged', 'keyType', ca.keyType ?? 'another', desired.keyType);
  }
  if (!isNamed(ca.commonName, desired.commonName)) {
    return changed('SubjectChanged', 'commonName', ca.commonName, desired.commonName);
  }
  return undefined;
}

/** Compares with `<common name> <unix seconds>` (ca/issuance/ca-certificate.ts). */
export function isNamed(commonName: string, wanted: string): boolean {
  return commonName.startsWith(`${wanted} `) && /^\d+$/.test(commonName.slice(wanted.length + 1));
}

function changed(
  reason: RotationReason['reason'],
  field: string,
  was: string,
  is: string,
): RotationReason {
  return {
    reason,
    message: `spec.authority.managed.${field} is ${is}, but the CA was created with ${was}`,
    canWait: true,
  };
}
