// SPDX-License-Identifier: Apache-2.0
import { formatDuration } from '#api/object/duration.ts';
import { formatTime } from '#api/object/time.ts';
import { SignerError } from '#base/errors.ts';
import type { KeyType } from '#base/vocabulary.ts';

/** The desired state of a serving certificate of this installation. */
export interface DesiredLeaf {
  readonly keyType: KeyType;
  readonly dnsNames: readonly string[];
  /** The lifetime, including the backdate. */
  readonly durationSeconds: number;
  readonly backdateSeconds: number;
}

/** A serving certificate in a Secret, with its key. Times are milliseconds. */
export interface LeafCertificate {
  readonly notBefore: number;
  readonly notAfter: number;
  /** The requested lifetime in seconds. Undefined if the Secret does not record it. */
  readonly durationSeconds: number | undefined;
  readonly keyType: KeyType | undefined;
  readonly dnsNames: readonly string[];
  /**
   * True if the present CA has signed it, and the Secret has the chain between it and the anchors.
   */
  readonly isOfPresent: boolean;
}

/** The reason why a serving certificate must be replaced. */
export interface LeafReason {
  readonly reason:
    | 'Unusable'
    | 'NamesChanged'
    | 'KeyTypeChanged'
    | 'DurationChanged'
    | 'AuthorityReplaced'
    | 'RenewBefore';
  readonly message: string;
}

export interface LeafRenewalInput {
  /** An error if there is none, or none that a server could present. */
  readonly held: LeafCertificate | SignerError;
  readonly desired: DesiredLeaf;
  /** The end of the CA that would sign a new one, in milliseconds. */
  readonly authorityNotAfter: number;
  readonly now: number;
}

export interface LeafRenewal {
  readonly due: LeafReason | undefined;
  /** The time at which a renewal becomes due by time alone. Undefined if there is none. */
  readonly lookAt: number | undefined;
}

/** The default of CAs for `renewBefore`: the last fifth. Kubelets and outages are far shorter. */
const RENEW_SHARE = 5;

/**
 * The least gain of a renewal. No certificate is replaced for its age within a minute of its
 * creation, nor by one that lives less than a minute longer. If all of them end with the CA, a new
 * one each second would not help.
 */
const MIN_GAIN_MS = 60_000;

/**
 * Decides whether a serving certificate is due for renewal. Synchronous, total, and the same in
 * every process.
 */
export function leafRenewal(input: LeafRenewalInput): LeafRenewal {
  const { held, desired } = input;
  if (held instanceof SignerError) return due('Unusable', held.message);
  if (input.now >= held.notAfter)
    return due('Unusable', `it expired at ${formatTime(held.notAfter)}`);
  if (input.now < held.notBefore) {
    return due('Unusable', `it is not valid before ${formatTime(held.notBefore)}`);
  }
  const other = unlike(held, desired);
  if (other !== undefined) return { due: other, lookAt: undefined };
  if (!held.isOfPresent)
    return due('AuthorityReplaced', 'it was signed by another CA than the active one');
  return byAge(input, held);
}

/**
 * Decides by the leaf's own deadline, or by the CA's. A leaf never outlives its CA, so the earlier
 * end is its own.
 */
function byAge(
  { desired, authorityNotAfter, now }: LeafRenewalInput,
  held: LeafCertificate,
): LeafRenewal {
  const least = held.notAfter + MIN_GAIN_MS;
  // If the CA ends as soon, only another CA helps, which is a separate reason.
  if (least > authorityNotAfter) return { due: undefined, lookAt: undefined };
  const at = Math.max(leafRenewalTime(held, desired), least - lifeAheadMs(desired));
  if (now < at) return { due: undefined, lookAt: at };
  const end = formatTime(held.notAfter);
  return due(
    'RenewBefore',
    `it expires at ${end}; its renewal has been due since ${formatTime(at)}`,
  );
}

/** Returns when a leaf with the desired properties is due for renewal, in milliseconds. */
function leafRenewalTime(
  { notBefore, notAfter }: LeafCertificate,
  { backdateSeconds }: DesiredLeaf,
): number {
  const bornAt = notBefore + backdateSeconds * 1000;
  return Math.max(bornAt + MIN_GAIN_MS, notAfter - (notAfter - notBefore) / RENEW_SHARE);
}

function lifeAheadMs({ durationSeconds, backdateSeconds }: DesiredLeaf): number {
  return (durationSeconds - backdateSeconds) * 1000;
}

function unlike(held: LeafCertificate, desired: DesiredLeaf): LeafReason | undefined {
  const [has, wants] = [held.dnsNames.toSorted().join(), desired.dnsNames.toSorted().join()];
  if (has !== wants) return { reason: 'NamesChanged', message: `it names ${has}, not ${wants}` };
  if (held.keyType !== desired.keyType) {
    const message = `its key is of type ${held.keyType ?? 'another'}, not ${desired.keyType}`;
    return { reason: 'KeyTypeChanged', message };
  }
  if (held.durationSeconds === desired.durationSeconds) return undefined;
  const was =
    held.durationSeconds === undefined
      ? 'an unknown duration'
      : formatDuration(held.durationSeconds);
  const message = `it was issued for ${was}, not for ${formatDuration(desired.durationSeconds)}`;
  return { reason: 'DurationChanged', message };
}

function due(reason: LeafReason['reason'], message: string): LeafRenewal {
  return { due: { reason, message }, lookAt: undefined };
}
