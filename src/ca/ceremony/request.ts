// SPDX-License-Identifier: Apache-2.0
import { decodePem } from '#pki/der/pem.ts';
import { decodeRequest, verifyRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';

/**
 * Decodes a PKCS#10 request, and verifies that its author has the key.
 *
 * @param pem - one block CERTIFICATE REQUEST
 * @throws SignerError REQUEST_SIGNATURE, REQUEST_MALFORMED, PEM_MALFORMED or DER_MALFORMED (`fail`)
 */
export function provenRequest(pem: string): CertificationRequest {
  const request = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
  verifyRequest(request);
  return request;
}
