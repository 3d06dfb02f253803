// SPDX-License-Identifier: Apache-2.0
import type { Asking } from '../api/request/asking.ts';
import { SignerError, type ErrorCode } from '../errors.ts';
import { decodePem } from '../pki/der/pem.ts';
import { decodeRequest, verifyRequest, type CertificationRequest } from '../pki/x509/pkcs10.ts';
import type { Refusal } from './refusal.ts';

export type Decoded =
  | { readonly kind: 'decoded'; readonly request: CertificationRequest }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

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
export function decodeSpec(csr: Asking): Decoded {
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
