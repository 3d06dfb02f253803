// SPDX-License-Identifier: Apache-2.0
import type { OrderRequest } from '../../../acme-issuing/order-calls.ts';
import type { AcmeSigner, Order } from '../../../api/acme/index.ts';
import { parseDuration } from '../../../api/object/duration.ts';
import { decodeRequest } from '../../../pki/x509/pkcs10.ts';

/**
 * What an Order asks the server for, and what it is held to.
 *
 * @throws SignerError where `spec.request` is no PKCS#10 request
 */
export function orderRequestOf({ spec }: Order, signer: AcmeSigner): OrderRequest {
  const csr = Buffer.from(spec.request, 'base64');
  const { acme, profile } = signer.spec;
  return {
    csr,
    spki: decodeRequest(csr).publicKey.spki,
    identifiers: spec.identifiers,
    maxSeconds: parseDuration(profile.maxDuration),
    profile: spec.profile,
    replaces: spec.replaces,
    preferredChain: acme.preferredChain,
    allowedExtensions: acme.allowedExtensions,
  };
}
