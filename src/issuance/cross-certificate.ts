// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '../pki/x509/certificate.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  keyUsage,
  subjectKeyIdentifier,
} from '../pki/extensions/encode-extensions.ts';
import { encodeTbs } from '../pki/x509/encode-certificate.ts';
import type { Random } from '../ports.ts';
import { type SigningCa, newSerial } from './signing-ca.ts';

/** Which CA certifies which. */
export interface CrossInput {
  /** The CA whose key is certified. */
  readonly of: Certificate;
  /** The previous CA, which signs. */
  readonly issuer: SigningCa;
  readonly random: Random;
}

/**
 * Encodes the TBSCertificate (DER) of a cross-certificate (RFC 5280 §3.2): name and key of a new CA, signed
 * by the previous CA, for verifiers that trust only the previous root. It may certify leaves only, and is
 * valid while both CAs are.
 */
export function encodeCrossTbs({ of, issuer, random }: CrossInput): Uint8Array {
  const { spki } = of.publicKey;
  return encodeTbs({
    serial: newSerial(random),
    signatureAlgorithm: issuer.signatureAlgorithm,
    issuer: issuer.subject,
    notBefore: Math.max(of.notBefore, issuer.notBefore),
    notAfter: Math.min(of.notAfter, issuer.notAfter),
    subject: of.subject.raw,
    spki,
    extensions: [
      keyUsage(['keyCertSign', 'cRLSign']),
      basicConstraints({ ca: true, pathLen: 0 }),
      // RFC 5280 §4.2.1.2: leaves refer to this one, through either certificate of the CA.
      subjectKeyIdentifier(spki),
      authorityKeyIdentifier(issuer.keyIdentifier),
    ],
  });
}

/** Whether a CA may certify other CAs: one with path length 0 certifies leaves only (RFC 5280 §4.2.1.9). */
export function mayCertifyCas({ pathLen }: Certificate): boolean {
  return pathLen === undefined || pathLen > 0;
}
