// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { basicConstraints, subjectKeyIdentifier } from '#pki/extensions/encode-extensions.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';
import type { AuthorityKeyType } from '#base/vocabulary.ts';

const YEAR_SECONDS = 365 * 24 * 3600;

/** A fresh self-signed CA as PEM, or with `leaf` a certificate that is none. Never committed. */
export async function certificateAuthority(
  wanted: {
    durationSeconds?: number;
    age?: number;
    leaf?: boolean;
    keyType?: AuthorityKeyType;
  } = {},
): Promise<{ certificate: string; key: string }> {
  if (wanted.leaf === true) return noAuthority();
  return createManagedAuthorities((size) => randomBytes(size))({
    keyType: wanted.keyType ?? 'ECDSAP256',
    commonName: 'Test CA',
    durationSeconds: wanted.durationSeconds ?? YEAR_SECONDS,
    now: Date.now() - (wanted.age ?? 0) * 1000,
  });
}

async function noAuthority(): Promise<{ certificate: string; key: string }> {
  const { key, pem, spki } = await generatePrivateKey('ECDSAP256');
  const algorithm = signatureAlgorithm(key);
  const name = encodeName({ commonName: 'No CA', organizations: [], organizationalUnits: [] });
  const tbs = encodeTbs({
    serial: Uint8Array.of(0x40, ...randomBytes(15)),
    signatureAlgorithm: algorithm.der,
    issuer: name,
    notBefore: Date.now() - 60_000,
    notAfter: Date.now() + YEAR_SECONDS * 1000,
    subject: name,
    spki,
    extensions: [basicConstraints({ ca: false }), subjectKeyIdentifier(spki)],
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { certificate: encodePem('CERTIFICATE', der), key: pem };
}
