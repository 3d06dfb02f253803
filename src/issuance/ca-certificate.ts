// SPDX-License-Identifier: Apache-2.0
import {
  basicConstraints,
  keyUsage,
  subjectKeyIdentifier,
  authorityKeyIdentifier,
} from '../pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '../pki/keys/public-key.ts';
import { encodeName } from '../pki/names/distinguished-name.ts';
import { encodeTbs } from '../pki/x509/encode-certificate.ts';
import type { Random } from '../ports.ts';
import { newSerial } from './signing-ca.ts';

/**
 * How far a new CA's notBefore lies in the past: more than any leaf's backdate (at most four
 * minutes), so that no leaf begins before its CA.
 */
export const CA_BACKDATE_SECONDS = 300;

export interface CaCertificateInput {
  readonly commonName: string;
  /** How many CAs may follow below it: none by default, 1 where it is to certify its successor. */
  readonly pathLen?: 0 | 1;
  readonly durationSeconds: number;
  readonly now: number;
  readonly spki: Uint8Array;
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  readonly random: Random;
}

/**
 * The to-be-signed bytes of a self-signed CA: critical BasicConstraints CA:TRUE with its path length,
 * critical keyCertSign and cRLSign, SKI and AKI, and a subject that no other generation has
 * (`<common name> <unix seconds>`), because verifiers pick issuers by name.
 */
export function selfSignedTbs(input: CaCertificateInput): Uint8Array {
  const second = Math.floor(input.now / 1000);
  const name = encodeName({
    commonName: `${input.commonName} ${second}`,
    organizations: [],
    organizationalUnits: [],
  });
  const notBefore = (second - CA_BACKDATE_SECONDS) * 1000;
  return encodeTbs({
    serial: newSerial(input.random),
    signatureAlgorithm: input.signatureAlgorithm,
    issuer: name,
    notBefore,
    notAfter: (second + input.durationSeconds) * 1000,
    subject: name,
    spki: input.spki,
    extensions: [
      keyUsage(['keyCertSign', 'cRLSign']),
      basicConstraints({ ca: true, pathLen: input.pathLen ?? 0 }),
      subjectKeyIdentifier(input.spki),
      authorityKeyIdentifier(keyIdentifier(input.spki)),
    ],
  });
}
