// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { NO_SUBJECT_ALT_NAMES } from '../../../src/pki/names/general-names.ts';
import { basicConstraints, subjectAltName } from '../../../src/pki/extensions/encode-extensions.ts';
import { encodeName } from '../../../src/pki/names/distinguished-name.ts';
import { encodePem } from '../../../src/pki/der/pem.ts';
import { generatePrivateKey } from '../../../src/pki/keys/private-key.ts';
import { signatureAlgorithm } from '../../../src/pki/keys/signature-algorithm.ts';
import { encodeCertificate, encodeTbs } from '../../../src/pki/x509/encode-certificate.ts';

const HOUR_MS = 3_600_000;

/** A self-signed certificate for 127.0.0.1, which is its own CA. PEM. */
export async function tlsCertificate(
  commonName: string,
): Promise<{ readonly cert: string; readonly key: string }> {
  const { key, pem, spki } = await generatePrivateKey('ECDSAP256');
  const algorithm = signatureAlgorithm(key);
  const name = encodeName({ commonName, organizations: [], organizationalUnits: [] });
  const tbs = encodeTbs({
    serial: Uint8Array.of(0x40, ...randomBytes(15)),
    signatureAlgorithm: algorithm.der,
    issuer: name,
    notBefore: Date.now() - HOUR_MS,
    notAfter: Date.now() + HOUR_MS,
    subject: name,
    spki,
    extensions: [
      basicConstraints({ ca: true }),
      subjectAltName({ ...NO_SUBJECT_ALT_NAMES, ipAddresses: ['127.0.0.1'] }, false),
    ],
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { cert: encodePem('CERTIFICATE', der), key: pem };
}
