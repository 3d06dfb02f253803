// SPDX-License-Identifier: Apache-2.0
import { type CertificationRequest } from '#pki/x509/pkcs10.ts';
import type { ViolationInput } from './violations/violation.ts';
import { findViolations } from './violations/index.ts';
import { decodeSpecRequest } from './decode.ts';

/** A decoded request without violations, or the content of a condition about its violations. */
export type ValidatedRequest =
  | { readonly kind: 'valid'; readonly request: CertificationRequest }
  /** `reason` of the most severe violation, and `message` of all of them. */
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string };

/**
 * Decodes a request and runs every rule that no spec can turn off. A valid request is not yet
 * approved.
 *
 * @throws SignerError with another disposition than `fail`, if the request may become readable
 */
export function validateRequest(input: Omit<ViolationInput, 'request'>): ValidatedRequest {
  const decoded = decodeSpecRequest(input.csr);
  if (decoded.kind === 'invalid') return { kind: 'fail', ...decoded.violation };
  const { request } = decoded;
  const found = findViolations({ ...input, request });
  const [first] = found;
  if (first === undefined) return { kind: 'valid', request };
  const message = found.map((each) => each.message).join('; ');
  return { kind: 'fail', reason: first.reason, message };
}
