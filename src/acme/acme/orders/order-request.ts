// SPDX-License-Identifier: Apache-2.0
import type { OrderRequest } from '#acme/issuing/order-calls.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Order } from '#api/acme/order.ts';
import { attempt, type SignerError } from '#base/errors.ts';
import { parseDuration } from '#api/object/duration.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';

/**
 * Returns an Order's request to the server, which the certificate must match. Returns a SignerError
 * if `spec.request` is not a PKCS#10 request.
 */
export function orderRequestOf(order: Order, signer: AcmeSigner): OrderRequest | SignerError {
  return attempt(() => requestOf(order, signer));
}

function requestOf({ spec }: Order, signer: AcmeSigner): OrderRequest {
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
    omittedIssuers: acme.omittedIssuers,
  };
}
