// SPDX-License-Identifier: Apache-2.0
import { basicConstraints, keyUsage, type Extension } from '#pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '#pki/keys/public-key.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import type { Random } from '#base/ports.ts';
import { encodeCaTbs } from './ca-tbs.ts';

/**
 * The backdate of a new CA. No leaf has a longer one
 * (MAX_UNCHECKED_BACKDATE_SECONDS), so that no leaf is valid before its CA.
 */
export const CA_BACKDATE_SECONDS = 300;

/** The contents of a new CA certificate. */
export interface CaCertificateInput {
  readonly commonName: string;
  /**
   * pathLenConstraint (RFC 5280 §4.2.1.9): 0 by default, 1 for a CA that cross-certifies its
   * successor.
   */
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
 * Returns the common name of one generation: `<common name> <unix seconds>`.
 *
 * @param now - milliseconds
 */
export function caCommonName(commonName: string, now: number): string {
  return `${commonName} ${Math.floor(now / 1000)}`;
}

/**
 * Encodes the TBSCertificate (DER) of a self-signed CA: critical BasicConstraints CA:TRUE with its
 * path length, critical keyCertSign and cRLSign, SKI and AKI.
 *
 * Each generation has a subject of its own (`<common name> <unix seconds>`), because verifiers
 * select issuers by name.
 */
export function selfSignedTbs(input: CaCertificateInput): Uint8Array {
  const second = Math.floor(input.now / 1000);
  const name = encodeName({
    commonName: caCommonName(input.commonName, input.now),
    organizations: [],
    organizationalUnits: [],
  });
  const notBefore = (second - CA_BACKDATE_SECONDS) * 1000;
  const { signatureAlgorithm, spki, random } = input;
  return encodeCaTbs({
    issuer: { subject: name, keyIdentifier: keyIdentifier(spki), signatureAlgorithm },
    subject: name,
    notBefore,
    notAfter: (second + input.durationSeconds) * 1000,
    spki,
    pathLen: input.pathLen ?? 0,
    random,
  });
}

/** Returns the path length of a CA: 1 if it certifies the key of its successor, else 0. */
export function pathLenOf(isCrossSigned: boolean): 0 | 1 {
  return isCrossSigned ? 1 : 0;
}

/** Returns the extensions that a request asks for. Upstream CAs may ignore them. */
export function requestedExtensions(isCrossSigned: boolean): readonly Extension[] {
  return [
    keyUsage(['keyCertSign', 'cRLSign']),
    basicConstraints({ ca: true, pathLen: pathLenOf(isCrossSigned) }),
  ];
}
