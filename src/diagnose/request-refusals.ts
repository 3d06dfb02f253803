// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { servesSigningRequests, type SignerSpec } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { compileIntermediates } from '#ca/policy/intermediates.ts';
import { validateIntermediate } from '#ca/policy/validate-intermediate.ts';
import {
  refusalsOfEverySigner,
  validateRequest,
  type ValidatedRequest,
} from '#ca/policy/validate.ts';
import type { RequestRefusal, Violation } from '#ca/policy/violations/violation.ts';

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

/** Returns why a signer would fail a request for good, even if a person approved it. */
export type FailureJudge = (csr: CertificateSigningRequest) => RequestRefusal | undefined;

/**
 * Compiles the judge of a signer's requests. It finds nothing where a spec does not compile: the
 * fault is not the request's.
 */
export function compileFailureJudge(spec: SignerSpec): FailureJudge {
  if (!servesSigningRequests(spec)) return () => undefined;
  const validate = attempt(() => validatorOf(spec));
  if (validate instanceof SignerError) return () => undefined;
  return (csr) => {
    const found = attempt(() => validate(csr));
    return found instanceof SignerError || found.kind !== 'fail' ? undefined : found;
  };
}

function validatorOf(spec: SignerSpec): (csr: CertificateSigningRequest) => Verdict {
  if (spec.intermediates === undefined) {
    const { profile, rules } = compilePolicy(spec);
    return (csr) => validateRequest({ csr, profile, rules, reservedPrefixes: [] });
  }
  const { keyTypes } = compileIntermediates(spec);
  return (csr) => validateIntermediate({ csr, keyTypes, reservedPrefixes: [] });
}

type Verdict = ValidatedRequest | ReturnType<typeof validateIntermediate>;
