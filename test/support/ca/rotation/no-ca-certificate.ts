// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { basicConstraints, subjectKeyIdentifier } from '#pki/extensions/encode-extensions.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';

const MONTH_MS = 30 * 86_400_000;

/** A self-signed certificate of that time that is no CA, with its key. PEM. */
export async function noCertificateAuthority(
  now: number,
): Promise<{ readonly certificate: string; readonly key: string }> {
  const { key, pem, spki } = await generatePrivateKey('ECDSAP256');
  const algorithm = signatureAlgorithm(key);
  const name = encodeName({ commonName: 'No CA', organizations: [], organizationalUnits: [] });
  const tbs = encodeTbs({
    serial: Uint8Array.of(0x40, ...randomBytes(15)),
    signatureAlgorithm: algorithm.der,
    issuer: name,
    notBefore: now - 60_000,
    notAfter: now + MONTH_MS,
    subject: name,
    spki,
    extensions: [basicConstraints({ ca: false }), subjectKeyIdentifier(spki)],
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { certificate: encodePem('CERTIFICATE', der), key: pem };
}
