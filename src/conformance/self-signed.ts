// SPDX-License-Identifier: Apache-2.0
/** Issues the certificates of the runner, which acts as the signer of its own signer name. */
import type { KeyObject } from 'node:crypto';
import type { Random } from '#base/ports.ts';
import {
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectKeyIdentifier,
} from '#pki/extensions/encode-extensions.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { encodePem } from '#pki/der/pem.ts';
import { publicKeyOf } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';

/** A certificate that the runner issues to itself. Times are milliseconds since the epoch. */
export interface SelfSignedParts {
  readonly commonName: string;
  readonly isCa: boolean;
  readonly key: KeyObject;
  /** Milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly random: Random;
}

/** Returns the PEM of a self-signed certificate. */
export function selfSignedCertificate(parts: SelfSignedParts): string {
  const { commonName, isCa, key, notBefore, notAfter, random } = parts;
  const name = encodeName({ commonName, organizations: [], organizationalUnits: [] });
  const algorithm = signatureAlgorithm(key);
  const spki = publicKeyOf(key);
  const tbs = encodeTbs({
    serial: Uint8Array.of(0x40, ...random(15)),
    signatureAlgorithm: algorithm.der,
    issuer: name,
    subject: name,
    notBefore,
    notAfter,
    spki,
    extensions: [
      keyUsage([isCa ? 'keyCertSign' : 'digitalSignature']),
      ...(isCa ? [] : [extKeyUsage([OID_SERVER_AUTH])]),
      basicConstraints({ ca: isCa }),
      subjectKeyIdentifier(spki),
    ],
  });
  return encodePem('CERTIFICATE', encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs)));
}
