// SPDX-License-Identifier: Apache-2.0
import { type CertificationRequest, decodeRequest, verifyRequest } from '../pki/x509/pkcs10.ts';
import type { Violation, ViolationInput } from './violations/violation.ts';
import { findViolations } from './violations/index.ts';
import { type ErrorCode, SignerError } from '../errors.ts';
import { decodePem } from '../pki/der/pem.ts';
import type { ReviewableRequest } from '../api/request/reviewable-request.ts';

export type ValidatedRequest =
  | { readonly kind: 'admitted'; readonly request: CertificationRequest }
  /** In the words of a condition: the gravest reason, and what all of them say. */
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string };

/** Whether a request can become a leaf at all: it is decoded, and no hard refusal stands against it. */
export function validateRequest(input: Omit<ViolationInput, 'request'>): ValidatedRequest {
  const decoded = decodeSpecRequest(input.csr);
  if (decoded.kind === 'refused') return { kind: 'fail', ...decoded.refusal };
  const { request } = decoded;
  const found = findViolations({ ...input, request });
  const [first] = found;
  if (first === undefined) return { kind: 'admitted', request };
  const message = found.map((each) => each.message).join('; ');
  return { kind: 'fail', reason: first.reason, message };
}

export type DecodedRequest =
  | { readonly kind: 'decoded'; readonly request: CertificationRequest }
  | { readonly kind: 'refused'; readonly refusal: Violation };

/** Every other fault of a request's bytes is MalformedRequest. */
const REASONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  REQUEST_SIGNATURE: 'InvalidSignature',
  KEY_MALFORMED: 'MalformedKey',
  KEY_UNSUPPORTED: 'UnsupportedKeyType',
  KEY_WEAK: 'WeakKey',
  NAME_INVALID: 'MalformedName',
};

/**
 * `spec.request`, decoded strictly and its signature verified. What can never be decoded is a
 * refusal: the spec of a request does not change.
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
    return { kind: 'refused', refusal: { reason, message: `spec.request: ${error.message}` } };
  }
}
