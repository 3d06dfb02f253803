// SPDX-License-Identifier: Apache-2.0
import { formatDuration } from '../api/object/duration.ts';
import { formatTime } from '../api/object/time.ts';
import type { RequestedRotation } from './requested-rotation.ts';
import { latestStart, renewalTime } from './renewal-time.ts';
import type { CaCertificate } from './ca-certificate.ts';
import type { DesiredCa } from './desired-ca.ts';

/** Why a CA must be replaced; the words of the condition RotationDue. */
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
    | 'Requested';
  readonly message: string;
  /** Nothing breaks when it waits until old CAs are gone. */
  readonly canWait: boolean;
}

export interface RotationReasonInput {
  readonly active: CaCertificate;
  /** When it became Active. */
  readonly activatedAt: number;
  readonly desired: DesiredCa;
  readonly requested: RequestedRotation;
  readonly propagationSeconds: number;
  readonly now: number;
}

/** Why a CA that is fit to sign is to be replaced all the same; undefined while it is not. */
export function rotationReason(input: RotationReasonInput): RotationReason | undefined {
  const { active, desired, requested, propagationSeconds, now } = input;
  if (now >= latestStart(active, desired, propagationSeconds)) {
    const message = `the CA expires at ${formatTime(active.notAfter)} and soon cuts leaves of ${desired.longestLeafSeconds} s short`;
    const { at } = renewalTime(active, desired, propagationSeconds);
    // Within a minute of its birth another would be no better.
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

/** Why a CA is not the one that is wanted; undefined where it is. Its age is not looked at. */
export function driftOf(ca: CaCertificate, desired: DesiredCa): RotationReason | undefined {
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

/** `<common name> <unix seconds>` (issuance/ca-certificate.ts). */
function isNamed(commonName: string, wanted: string): boolean {
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
