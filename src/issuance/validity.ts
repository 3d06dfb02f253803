// SPDX-License-Identifier: Apache-2.0
import { REFRESH_MARGIN_SECONDS } from '../api/request/pod-certificate-request.ts';
import { SignerError } from '../errors.ts';
import type { Random } from '../ports.ts';

/** Milliseconds since the epoch, whole seconds, both ends included (RFC 5280 §4.1.2.5). */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface ValidityInput {
  /** Milliseconds. */
  readonly now: number;
  /** notAfter − notBefore, backdate included. */
  readonly lifetimeSeconds: number;
  /** How far notBefore lies before now, for verifiers whose clocks are late. */
  readonly backdateSeconds: number;
  /** Below this the API server or the requester would refuse the leaf. */
  readonly minimumSeconds: number;
  readonly issuer: Validity;
}

/**
 * The validity of a leaf: never outside its issuer's.
 *
 * @throws SignerError VALIDITY_IMPOSSIBLE (`authority`) when the issuer's own end leaves less than
 * the minimum: another CA can heal that, so it is never a reason to fail a request.
 */
export function leafValidity(input: ValidityInput): Validity {
  const second = Math.floor(input.now / 1000) * 1000;
  const notBefore = Math.max(second - input.backdateSeconds * 1000, input.issuer.notBefore);
  const notAfter = Math.min(notBefore + input.lifetimeSeconds * 1000, input.issuer.notAfter);
  // The other way round a lifetime that is no number would pass.
  if (!(notAfter - notBefore >= input.minimumSeconds * 1000)) {
    const left = Math.max(0, Math.floor((notAfter - notBefore) / 1000));
    throw new SignerError({
      code: 'VALIDITY_IMPOSSIBLE',
      disposition: 'authority',
      message: `the CA's own validity leaves ${left} s for a leaf, which must have at least ${input.minimumSeconds} s; renew the CA`,
    });
  }
  return { notBefore, notAfter };
}

/**
 * Share of the lifetime over which refreshes are spread, so that pods that started together do not
 * all come back in the same minute.
 */
const JITTER_SHARE = 0.05;

/** When the kubelet shall ask anew: `percent` of the lifetime plus jitter, inside the API's bounds. */
export function refreshTime(validity: Validity, percent: number, random: Random): number {
  const lifetime = validity.notAfter - validity.notBefore;
  const jitter = fraction(random) * JITTER_SHARE * lifetime;
  const wanted = validity.notBefore + (lifetime * percent) / 100 + jitter;
  const clamped = Math.min(
    Math.max(wanted, validity.notBefore + REFRESH_MARGIN_SECONDS * 1000),
    validity.notAfter - REFRESH_MARGIN_SECONDS * 1000,
  );
  return Math.floor(clamped / 1000) * 1000;
}

/** Uniform in [0, 1). */
function fraction(random: Random): number {
  return Buffer.from(random(4)).readUInt32BE() / 2 ** 32;
}
