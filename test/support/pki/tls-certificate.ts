// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { NO_SUBJECT_ALT_NAMES } from '#pki/names/general-names.ts';
import { basicConstraints, subjectAltName } from '#pki/extensions/encode-extensions.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';

const HOUR_MS = 3_600_000;
/** The life of the certificates of a test cluster's own components. */
export const CLUSTER_LIFE_MS = 168 * HOUR_MS;

/** A self-signed certificate for 127.0.0.1, other addresses and names, which is its own CA. PEM. */
export async function tlsCertificate(
  commonName: string,
  {
    addresses = [],
    dnsNames = [],
    lifeMs = HOUR_MS,
  }: {
    readonly addresses?: readonly string[];
    readonly dnsNames?: readonly string[];
    readonly lifeMs?: number;
  } = {},
): Promise<{ readonly cert: string; readonly key: string }> {
  const { key, pem, spki } = await generatePrivateKey('ECDSAP256');
  const algorithm = signatureAlgorithm(key);
  const name = encodeName({ commonName, organizations: [], organizationalUnits: [] });
  const tbs = encodeTbs({
    serial: Uint8Array.of(0x40, ...randomBytes(15)),
    signatureAlgorithm: algorithm.der,
    issuer: name,
    notBefore: Date.now() - HOUR_MS,
    notAfter: Date.now() + lifeMs,
    subject: name,
    spki,
    extensions: [
      basicConstraints({ ca: true }),
      subjectAltName(
        { ...NO_SUBJECT_ALT_NAMES, dnsNames, ipAddresses: ['127.0.0.1', ...addresses] },
        false,
      ),
    ],
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { cert: encodePem('CERTIFICATE', der), key: pem };
}
