// SPDX-License-Identifier: Apache-2.0
import { refusalsOfEverySigner } from '#ca/policy/validate.ts';
import type { Violation } from '#ca/policy/violations/violation.ts';

/** A usage that every request may have. PKCS#10 alone has no `spec.usages`. */
const NO_MATTER = ['digital signature'];

/**
 * Returns why every signer refuses a PKCS#10 request, as the components judge it.
 *
 * @param pem - the whole text, as `spec.request` would have it
 * @param usages - `spec.usages`, if they are known
 */
export function refusalsOfPem(
  pem: string,
  usages: readonly string[] = NO_MATTER,
): readonly Violation[] {
  const request = Buffer.from(pem, 'latin1').toString('base64');
  return refusalsOfEverySigner({ metadata: { name: '' }, spec: { request, usages } });
}
