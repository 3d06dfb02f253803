// SPDX-License-Identifier: Apache-2.0
import { formatDuration } from '../api/object/duration.ts';
import { formatTime } from '../api/object/time.ts';
import { SignerError } from '../errors.ts';
import type { KeyType } from '../vocabulary.ts';

/** A serving certificate of ours, as it is wanted. */
export interface DesiredLeaf {
  readonly keyType: KeyType;
  readonly dnsNames: readonly string[];
  /** Of its life, backdate included. */
  readonly durationSeconds: number;
  readonly backdateSeconds: number;
}

/** A serving certificate that a Secret holds, with its key. Times in milliseconds. */
export interface LeafCertificate {
  readonly notBefore: number;
  readonly notAfter: number;
  /** What it was made for, in seconds; undefined where the Secret does not say. */
  readonly durationSeconds: number | undefined;
  readonly keyType: KeyType | undefined;
  readonly dnsNames: readonly string[];
  /** The CA that signs now has signed it, and the Secret has what lies between it and the anchors. */
  readonly isOfPresent: boolean;
}

/** Why a serving certificate must be replaced. */
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
  /** An error where there is none, or none that a server could show. */
  readonly held: LeafCertificate | SignerError;
  readonly desired: DesiredLeaf;
  /** The CA that would sign a new one ends then; milliseconds. */
  readonly authorityNotAfter: number;
  readonly now: number;
}

export interface LeafRenewal {
  readonly due: LeafReason | undefined;
  /** When time alone makes one due; undefined where no time does. */
  readonly lookAt: number | undefined;
}

/** As for CAs where `renewBefore` is left out: the last fifth. Kubelets and outages are far shorter. */
const RENEW_SHARE = 5;

/**
 * No certificate is replaced for its age within a minute of its birth, nor by one that lives less
 * than a minute longer: where all of them end with the CA, a new one each second would not help.
 */
const MIN_GAIN_MS = 60_000;

/** Whether a serving certificate is to be renewed. Synchronous, total, and the same in every process. */
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

/** The leaf's own deadline, or the CA's: a leaf never outlives its CA, so the earlier end is its own. */
function byAge(
  { desired, authorityNotAfter, now }: LeafRenewalInput,
  held: LeafCertificate,
): LeafRenewal {
  const least = held.notAfter + MIN_GAIN_MS;
  // Where the CA ends as soon, only another CA helps, which is a reason of its own.
  if (least > authorityNotAfter) return { due: undefined, lookAt: undefined };
  const at = Math.max(leafRenewalTime(held, desired), least - lifeAheadMs(desired));
  if (now < at) return { due: undefined, lookAt: at };
  const end = formatTime(held.notAfter);
  return due(
    'RenewBefore',
    `it expires at ${end}; its renewal has been due since ${formatTime(at)}`,
  );
}

/** When a leaf that was made as it is wanted is to be renewed; milliseconds. */
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
