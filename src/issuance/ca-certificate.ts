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
 * How far in the past a new CA's notBefore lies: more than the backdate of any leaf (at most four minutes),
 * so that no leaf is valid before its CA.
 */
export const CA_BACKDATE_SECONDS = 300;

/** The contents of a new CA certificate. */
export interface CaCertificateInput {
  readonly commonName: string;
  /** pathLenConstraint (RFC 5280 §4.2.1.9): 0 by default, 1 for a CA that cross-certifies its successor. */
  readonly pathLen?: 0 | 1;
  readonly durationSeconds: number;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
  readonly spki: Uint8Array;
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  readonly random: Random;
}

/**
 * Encodes the TBSCertificate (DER) of a self-signed CA: critical BasicConstraints CA:TRUE with its path length,
 * critical keyCertSign and cRLSign, SKI and AKI. Each generation has a subject of its own
 * (`<common name> <unix seconds>`), because verifiers select issuers by name.
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
