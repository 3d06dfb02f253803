// SPDX-License-Identifier: Apache-2.0
import { selfSignedTbs } from '../issuance/ca-certificate.ts';
import { encodePem } from '../pki/der/pem.ts';
import { generatePrivateKey } from '../pki/keys/private-key.ts';
import { signatureAlgorithm } from '../pki/keys/signature-algorithm.ts';
import { encodeCertificate } from '../pki/x509/encode-certificate.ts';
import type { Random } from '../ports.ts';
import type { CreateAuthority } from './contract.ts';

/**
 * The function that creates managed CAs: a new key and a self-signed certificate with a unique subject.
 *
 * @param random - source of the serial number and of the subject's unique part; keys are OpenSSL's
 */
export function createManagedAuthorities(random: Random): CreateAuthority {
  return async (wanted) => {
    const { key, pem, spki } = await generatePrivateKey(wanted.keyType);
    const algorithm = signatureAlgorithm(key);
    const tbs = selfSignedTbs({
      ...wanted,
      pathLen: wanted.crossSigned === true ? 1 : 0,
      spki,
      signatureAlgorithm: algorithm.der,
      random,
    });
    const certificate = encodePem(
      'CERTIFICATE',
      encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs)),
    );
    return { certificate, key: pem, anchors: certificate };
  };
}
