// SPDX-License-Identifier: Apache-2.0
import type { NameConstraint } from '#pki/names/constraint-match.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  crlDistributionPoints,
  keyUsage,
  nameConstraints,
  subjectKeyIdentifierOf,
} from '#pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '#pki/keys/public-key.ts';
import { encodeTbs } from '#pki/x509/encode-certificate.ts';
import type { Random } from '#base/ports.ts';
import { type SigningCa, newSerial } from './signing-ca.ts';
import type { Validity } from './validity.ts';

/** The contents of the certificate of a CA, which a CA or the same key signs. */
export interface CaTbsInput extends Validity {
  readonly issuer: Pick<SigningCa, 'subject' | 'keyIdentifier' | 'signatureAlgorithm'>;
  /** DER Name. */
  readonly subject: Uint8Array;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  /** The subjectKeyIdentifier. Default: the SHA-1 of the key. */
  readonly keyId?: Uint8Array;
  /** pathLenConstraint (RFC 5280 §4.2.1.9): the number of CAs that may follow below. */
  readonly pathLen: number;
  /** nameConstraints, if there are any. */
  readonly constraints?: {
    readonly permitted: readonly NameConstraint[];
    readonly excluded: readonly NameConstraint[];
  };
  /** The places of the CRL that lists this certificate. */
  readonly crlUrls?: readonly string[];
  readonly random: Random;
}

/**
 * Encodes the TBSCertificate (DER) of a CA: critical keyCertSign and cRLSign, critical
 * BasicConstraints CA:TRUE with its path length, SKI and AKI.
 */
export function encodeCaTbs(input: CaTbsInput): Uint8Array {
  const { issuer, spki, constraints, crlUrls = [] } = input;
  return encodeTbs({
    serial: newSerial(input.random),
    signatureAlgorithm: issuer.signatureAlgorithm,
    issuer: issuer.subject,
    notBefore: input.notBefore,
    notAfter: input.notAfter,
    subject: input.subject,
    spki,
    extensions: [
      keyUsage(['keyCertSign', 'cRLSign']),
      basicConstraints({ ca: true, pathLen: input.pathLen }),
      // RFC 5280 §4.2.1.2: leaves refer to this identifier, through every certificate of the CA.
      subjectKeyIdentifierOf(input.keyId ?? keyIdentifier(spki)),
      authorityKeyIdentifier(issuer.keyIdentifier),
      ...(constraints === undefined ? [] : [nameConstraints(constraints)]),
      ...(crlUrls.length === 0 ? [] : [crlDistributionPoints(crlUrls)]),
    ],
  });
}
