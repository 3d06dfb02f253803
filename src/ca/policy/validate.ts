// SPDX-License-Identifier: Apache-2.0
/**
 * The one judge of a request: the components, `countersign lint`, `inspect`, `policy test`,
 * `request`, `explain` and `approve` all call it, so that they never differ.
 */
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import { KEY_TYPES, LEAF_USAGES, REQUEST_FIELDS } from '#base/vocabulary.ts';
import { isPurpose } from '#pki/extensions/usages.ts';
import { type CertificationRequest } from '#pki/x509/pkcs10.ts';
import type { CompiledRule } from './compile-policy.ts';
import { decodeSpecRequest } from './decode.ts';
import * as messages from './denial-messages.ts';
import { staticMismatches } from './mismatches.ts';
import { findViolations } from './violations/index.ts';
import {
  refusalOf,
  type RequestRefusal,
  type RequestProfile,
  type Violation,
  type ViolationInput,
} from './violations/violation.ts';

/** A decoded request without violations, or the content of a condition about its violations. */
export type ValidatedRequest =
  { readonly kind: 'valid'; readonly request: CertificationRequest } | RequestRefusal;

export interface ValidationInput extends Omit<ViolationInput, 'request'> {
  /**
   * The rules that would judge the request after its correction. The message then has what the
   * nearest of them does not allow, so that one correction is enough.
   */
  readonly rules?: readonly CompiledRule[];
}

/**
 * Decodes a request and runs every rule that no spec can turn off. A valid request is not yet
 * approved.
 *
 * @throws SignerError with another disposition than `fail`, if the request may become readable
 */
export function validateRequest(input: ValidationInput): ValidatedRequest {
  const decoded = decodeSpecRequest(input.csr);
  if (decoded.kind === 'invalid') return refusalOf([decoded.violation]);
  const { request } = decoded;
  const [first, ...others] = findViolations({ ...input, request });
  if (first === undefined) return { kind: 'valid', request };
  return refusalOf([first, ...others], besides(input, request));
}

/** The widest profile that a signer can have. */
const WIDEST: RequestProfile = Object.freeze({
  keyTypes: KEY_TYPES,
  usages: LEAF_USAGES,
  copy: REQUEST_FIELDS,
});

/**
 * Returns why every signer refuses a request, with any spec.
 *
 * @returns nothing if a signer could issue a leaf
 */
export function refusalsOfEverySigner(csr: ReviewableRequest): readonly Violation[] {
  const decoded = decodeSpecRequest(csr);
  if (decoded.kind === 'invalid') return [decoded.violation];
  const { request } = decoded;
  // A profile without purposes permits requests without one.
  const needsPurpose = (csr.spec.usages ?? []).some(isPurpose);
  const usages = needsPurpose ? LEAF_USAGES : LEAF_USAGES.filter((usage) => !isPurpose(usage));
  return findViolations({ csr, request, profile: { ...WIDEST, usages }, reservedPrefixes: [] });
}

/** Returns what the nearest rule does not allow besides the violations. Evaluates no expression. */
function besides(
  { csr, profile, rules = [] }: ValidationInput,
  request: CertificationRequest,
): readonly string[] {
  const usages = csr.spec.usages ?? [];
  // A violation has the usages outside of the profile.
  const judged = usages.filter((usage) => profile.usages.some((known) => known === usage));
  const found = rules.map((rule) => ({
    rule,
    lacks: staticMismatches(rule, { request, usages }, judged),
  }));
  const [nearest] = found.toSorted((a, b) => a.lacks.length - b.lacks.length);
  if (nearest === undefined || nearest.lacks.length === 0) return [];
  return [messages.ruleBesides(nearest.rule.name, nearest.lacks)];
}
