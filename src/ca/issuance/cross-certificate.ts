// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '#pki/x509/certificate.ts';
import type { Random } from '#base/ports.ts';
import { encodeCaTbs } from './ca-tbs.ts';
import type { SigningCa } from './signing-ca.ts';

/** The two CAs of a cross-certificate. */
export interface CrossInput {
  /** The CA whose key is certified. */
  readonly of: Certificate;
  /** The previous CA, which signs. */
  readonly issuer: SigningCa;
  readonly random: Random;
}

/**
 * Encodes the TBSCertificate (DER) of a cross-certificate (RFC 5280 §3.2). It has name and key of a
 * new CA and is signed by the previous CA, for verifiers that trust only the previous root. It may
 * certify leaves only, and is valid while both CAs are.
 */
export function encodeCrossTbs({ of, issuer, random }: CrossInput): Uint8Array {
  return encodeCaTbs({
    issuer,
    notBefore: Math.max(of.notBefore, issuer.notBefore),
    notAfter: Math.min(of.notAfter, issuer.notAfter),
    subject: of.subject.raw,
    spki: of.publicKey.spki,
    pathLen: 0,
    random,
  });
}

/**
 * Reports whether a CA may certify other CAs. One with path length 0 certifies leaves only (RFC
 * 5280 §4.2.1.9).
 */
export function mayCertifyCas({ pathLen }: Certificate): boolean {
  return pathLen === undefined || pathLen > 0;
}
