// SPDX-License-Identifier: Apache-2.0
import {
  caCommonName,
  pathLenOf,
  requestedExtensions,
  selfSignedTbs,
} from '../issuance/ca-certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate } from '#pki/x509/encode-certificate.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import type { Random } from '#base/ports.ts';
import type { CreateAuthority, CreateCaRequest } from './contract.ts';

/**
 * Creates the function for new managed CAs, each with a new key and a self-signed certificate with
 * a unique subject.
 *
 * @param random - source of the serial number and of the subject's unique part. Keys come from
 *   OpenSSL.
 */
export function createManagedAuthorities(random: Random): CreateAuthority {
  return async (wanted) => {
    const { key, pem, spki } = await generatePrivateKey(wanted.keyType);
    const algorithm = signatureAlgorithm(key);
    const tbs = selfSignedTbs({
      ...wanted,
      pathLen: pathLenOf(wanted.crossSigned === true),
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

const NO_NAMES = { dnsNames: [], ipAddresses: [], uris: [], emails: [] } as const;

/** Creates a new key and its request, with the subject that a self-signed CA would have. */
export const createCaRequest: CreateCaRequest = async (wanted) => {
  const { key, pem } = await generatePrivateKey(wanted.keyType);
  const der = encodeRequest({
    subject: {
      commonName: caCommonName(wanted.commonName, wanted.now),
      organizations: wanted.cluster === undefined ? [] : [wanted.cluster],
      organizationalUnits: [],
    },
    sans: NO_NAMES,
    extensions: requestedExtensions(wanted.crossSigned),
    key,
  });
  return { key: pem, request: encodePem('CERTIFICATE REQUEST', der) };
};
