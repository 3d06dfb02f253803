// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_GROUP } from '#api/acme/names.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { orderIdentifiers } from '#acme/acme/requests/order-identifiers.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { decodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';
import type { PolicyTestVerdict } from './test-certificate-request.ts';

/**
 * Denies an allowed request with fields that no ACME server certifies.
 *
 * @param request - base64 of PEM
 */
export function denyUnorderable(
  verdict: PolicyTestVerdict,
  signer: SignerObject,
  request: string,
): PolicyTestVerdict {
  if (verdict.word !== 'APPROVE' || !isOfAcme(signer)) return verdict;
  const asked = attempt(() => {
    const pem = Buffer.from(request, 'base64').toString('latin1');
    const names = requestedNames(decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST')));
    return orderIdentifiers(request, names, signer);
  });
  if (asked instanceof SignerError || !('fault' in asked)) return verdict;
  return { word: 'DENY', message: asked.message };
}

function isOfAcme(signer: SignerObject): signer is AcmeSigner {
  return signer.apiVersion.startsWith(`${ACME_GROUP}/`);
}
