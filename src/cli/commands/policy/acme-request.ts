// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP, type AcmeSigner } from '../../../api/acme/index.ts';
import type { SignerObject } from '../../../api/signer/cluster-signer.ts';
import { askedFor } from '../../../controllers/acme/requests/asked.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { decodePem } from '../../../pki/der/pem.ts';
import { decodeRequest } from '../../../pki/x509/pkcs10.ts';
import { requestedNames } from '../../../pki/x509/requested-names.ts';
import type { PolicyTestVerdict } from './test-certificate-request.ts';

/**
 * A request that the rules allow may still ask for what no ACME server certifies.
 *
 * @param request - base64 of PEM
 */
export function unlessNotAskable(
  verdict: PolicyTestVerdict,
  signer: SignerObject,
  request: string,
): PolicyTestVerdict {
  if (verdict.word !== 'APPROVE' || !isOfAcme(signer)) return verdict;
  const asked = attempt(() => {
    const pem = Buffer.from(request, 'base64').toString('latin1');
    const names = requestedNames(decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST')));
    return askedFor(request, names, signer);
  });
  if (asked instanceof SignerError || !('fault' in asked)) return verdict;
  return { word: 'DENY', message: asked.message };
}

function isOfAcme(signer: SignerObject): signer is AcmeSigner {
  return signer.apiVersion.startsWith(`${ACME_GROUP}/`);
}
