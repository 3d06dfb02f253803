// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '#api/object/object.ts';
import {
  ACTIVATED_AT,
  CROSS_CERTIFICATE,
  DURATION,
  INSTALLED_AT,
  NEXT_DURATION,
  NEXT_INSTALLED_AT,
} from '#api/signer/rotation-annotations.ts';
import { parseTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { caCertificateOf, type CaCertificate } from '#ca/rotation/ca-certificate.ts';
import { UNREADABLE, type Slots } from '#ca/rotation/next-step.ts';
import { hasNext, slotMaterial, type Inspect, type Slot } from './inspect.ts';

const DURATIONS: Readonly<Record<Slot, string>> = { tls: DURATION, next: NEXT_DURATION };
const INSTALLATIONS: Readonly<Record<Slot, string>> = {
  tls: INSTALLED_AT,
  next: NEXT_INSTALLED_AT,
};

/** Returns the rotation's view of a managed CA's Secret. */
export function slotsOf(secret: Secret, inspect: Inspect, now: number): Slots {
  return {
    active: heldIn(secret, 'tls', inspect, now),
    next: hasNext(secret) ? heldIn(secret, 'next', inspect, now) : undefined,
    activatedAt: activationOf(secret),
    crossIssuer: crossIssuerOf(secret, inspect),
  };
}

/**
 * Returns when the CA in `tls.*` took over, in milliseconds, or undefined if the Secret does not
 * record it.
 */
export function activationOf({ metadata }: Secret): number | undefined {
  const activatedAt = parseTime(metadata.annotations?.[ACTIVATED_AT] ?? '');
  return Number.isNaN(activatedAt) ? undefined : activatedAt;
}

function crossIssuerOf(secret: Secret, inspect: Inspect): Slots['crossIssuer'] {
  if (secret.data?.[CROSS_CERTIFICATE] === undefined) return undefined;
  const facts = inspect(secret, 'tls');
  return facts instanceof SignerError ? undefined : (facts.cross?.issuer ?? UNREADABLE);
}

function heldIn(
  secret: Secret,
  slot: Slot,
  inspect: Inspect,
  now: number,
): CaCertificate | SignerError {
  const facts = inspect(secret, slot);
  const { annotations = {} } = secret.metadata;
  const origin = {
    duration: annotations[DURATIONS[slot]],
    installedAt: annotations[INSTALLATIONS[slot]],
  };
  if (!(facts instanceof SignerError)) {
    return caCertificateOf(facts.certificate, { ...origin, anchors: facts.anchors });
  }
  return facts.code === 'AUTHORITY_EXPIRED' ? (notYetValidCa(secret, slot, now) ?? facts) : facts;
}

/**
 * Returns a CA whose notBefore is in the future because of a fast clock. It becomes valid without
 * replacement.
 */
function notYetValidCa(secret: Secret, slot: Slot, now: number): CaCertificate | undefined {
  const read = attempt(() => readCertificates(slotMaterial(secret, slot).certificate));
  const [first] = read instanceof SignerError ? [] : read;
  return first !== undefined && now < first.notBefore
    ? caCertificateOf(first, { duration: undefined })
    : undefined;
}
