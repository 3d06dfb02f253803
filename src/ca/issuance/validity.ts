// SPDX-License-Identifier: Apache-2.0
import { REFRESH_MARGIN_SECONDS } from '#api/request/pod-certificate-request.ts';
import { SignerError } from '#base/errors.ts';
import type { Random } from '#base/ports.ts';

/** Milliseconds since the epoch, whole seconds, both ends inclusive (RFC 5280 §4.1.2.5). */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The inputs for the validity of a leaf. */
export interface ValidityInput {
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
  /** notAfter − notBefore, including the backdate. */
  readonly lifetimeSeconds: number;
  /** The seconds from notBefore to now, for verifiers whose clocks are slow. */
  readonly backdateSeconds: number;
  /** The minimum of the API server or the requester, which reject a shorter leaf. */
  readonly minimumSeconds: number;
  readonly issuer: Validity;
}

/**
 * Returns the validity of a leaf, never outside that of its issuer.
 *
 * @throws SignerError VALIDITY_IMPOSSIBLE (`authority`) if the issuer expires before the minimum. A
 *   renewed CA resolves that, so the request waits and does not fail.
 */
export function leafValidity(input: ValidityInput): Validity {
  const second = Math.floor(input.now / 1000) * 1000;
  const notBefore = Math.max(second - input.backdateSeconds * 1000, input.issuer.notBefore);
  const notAfter = Math.min(notBefore + input.lifetimeSeconds * 1000, input.issuer.notAfter);
  // Negated, so that NaN does not pass.
  if (!(notAfter - notBefore >= input.minimumSeconds * 1000)) {
    const left = Math.max(0, Math.floor((notAfter - notBefore) / 1000));
    throw new SignerError({
      code: 'VALIDITY_IMPOSSIBLE',
      disposition: 'authority',
      message: `the CA expires too soon: a leaf would be valid for ${left} s and needs at least ${input.minimumSeconds} s; renew the CA`,
    });
  }
  return { notBefore, notAfter };
}

/**
 * The share of the lifetime over which refreshes are spread, so that pods that started together do
 * not all refresh in the same minute.
 */
const JITTER_SHARE = 0.05;

/**
 * Returns `status.beginRefreshAt` of a PodCertificateRequest: `percent` of the lifetime plus
 * jitter, at least REFRESH_MARGIN_SECONDS from both ends.
 *
 * @returns milliseconds since the epoch, whole seconds
 */
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

/** Returns a uniform number in [0, 1). */
function fraction(random: Random): number {
  return Buffer.from(random(4)).readUInt32BE() / 2 ** 32;
}
