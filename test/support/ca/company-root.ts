// SPDX-License-Identifier: Apache-2.0
/** The root of a company, above managed CAs: self-signed, no path length, ten years. */
import assert from 'node:assert/strict';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  keyUsage,
  subjectKeyIdentifier,
} from '#pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '#pki/keys/public-key.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';
import { readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { NOW } from '../pki/chain.ts';
import { random } from './issuing.ts';

const DAY = 86_400_000;

export interface CompanyRoot {
  readonly material: AuthorityMaterial;
  readonly certificate: Certificate;
  /** The PEM of a CA for the key and the name of a request, for so many days from `now`. */
  sign(request: string, days: number, now?: number): string;
}

/** @param now - a month after the beginning of its ten years */
export async function createCompanyRoot(now = NOW): Promise<CompanyRoot> {
  const material = await createManagedAuthorities(random)({
    keyType: 'ECDSAP256',
    commonName: 'Company root',
    durationSeconds: 3650 * 86_400,
    crossSigned: true,
    now: now - 30 * DAY,
  });
  const [certificate] = readCertificates(material.certificate);
  assert.ok(certificate !== undefined);
  const sign = (request: string, days: number, signedAt = now): string => {
    const { publicKey, subject } = decodeRequest(decodePem(request, 'CERTIFICATE REQUEST'));
    const algorithm = signatureAlgorithm(readPrivateKey(material.key));
    const { spki } = publicKey;
    const tbs = encodeTbs({
      serial: Uint8Array.of(0x40, ...random(15)),
      signatureAlgorithm: algorithm.der,
      issuer: certificate.subject.raw,
      notBefore: signedAt - DAY,
      notAfter: signedAt + days * DAY,
      subject: subject.raw,
      spki,
      extensions: [
        keyUsage(['keyCertSign', 'cRLSign']),
        basicConstraints({ ca: true, pathLen: 0 }),
        subjectKeyIdentifier(spki),
        authorityKeyIdentifier(keyIdentifier(certificate.publicKey.spki)),
      ],
    });
    return encodePem('CERTIFICATE', encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs)));
  };
  return { material, certificate, sign };
}
