// SPDX-License-Identifier: Apache-2.0
import { type CertificationRequest, decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import type { Violation } from './violations/violation.ts';
import { type ErrorCode, SignerError } from '#base/errors.ts';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import { decodePem } from '#pki/der/pem.ts';
import * as messages from './denial-messages.ts';

/** The decoded `spec.request`, or why decoding can never succeed. */
export type DecodedRequest =
  | { readonly kind: 'decoded'; readonly request: CertificationRequest }
  | { readonly kind: 'invalid'; readonly violation: Violation };

/** Reasons by error code. For all other codes the reason is MalformedRequest. */
const REASONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  REQUEST_SIGNATURE: 'InvalidSignature',
  KEY_MALFORMED: 'MalformedKey',
  KEY_UNSUPPORTED: 'UnsupportedKeyType',
  KEY_WEAK: 'WeakKey',
  NAME_INVALID: 'MalformedName',
};

/**
 * Decodes `spec.request` (base64 of PEM) strictly and verifies its signature. A request that does
 * not decode is a violation and not an error, because the spec of a request never changes.
 *
 * @throws SignerError with another disposition than `fail`
 */
export function decodeSpecRequest(csr: ReviewableRequest): DecodedRequest {
  try {
    const pem = Buffer.from(csr.spec.request, 'base64').toString('latin1');
    const request = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
    verifyRequest(request);
    return { kind: 'decoded', request };
  } catch (error) {
    if (!(error instanceof SignerError) || error.disposition !== 'fail') throw error;
    const reason = REASONS[error.code] ?? 'MalformedRequest';
    return {
      kind: 'invalid',
      violation: { reason, message: messages.unreadableRequest(error.message) },
    };
  }
}
