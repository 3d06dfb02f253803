// SPDX-License-Identifier: Apache-2.0
import {
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { SignerError } from '#base/errors.ts';
import type { Profile } from '#ca/issuance/profile.ts';
import type { Validity } from '#ca/issuance/validity.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { validateRequest } from '#ca/policy/validate.ts';
import type { RequestPolicy } from '#ca/policy/compile-policy.ts';
import { reasonsText, review, ruleOf } from '#ca/policy/review.ts';
import { refusalOf, type RequestRefusal } from '#ca/policy/violations/violation.ts';
import { leafTemplate, type PlannedLeaf } from '../issuing/leaf-template.ts';
import { specViolation, toReviewableRequest } from './reviewable.ts';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import * as messages from './messages.ts';

/** Inputs of one decision. */
export interface IssuerDecisionInput {
  readonly request: CertificateRequest;
  readonly profile: Profile;
  readonly policy: RequestPolicy;
  /** The CA's own validity, or the error if no CA can sign now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** The next action for a request. */
export type CertificateRequestPlan =
  | { readonly kind: 'ignore' }
  /** An approver denied the request, which Ready must show. */
  | { readonly kind: 'deny' }
  | RequestRefusal
  /** No rule allows it. */
  | { readonly kind: 'undecided'; readonly message: string; readonly evaluationError: boolean }
  | (PlannedLeaf & { readonly rule?: string | undefined });

/**
 * Replaces the CA when only rules are evaluated. A plan that waits for it means that the rules
 * allow the request.
 */
export const RULES_ONLY = new SignerError({
  code: 'AUTHORITY_MISSING',
  disposition: 'authority',
  message: messages.RULES_ONLY,
});

/**
 * Decides one CertificateRequest. Two must allow it: an approver, by the condition Approved, and a
 * rule of the signer. The approver alone is not enough, since cert-manager's own approves every
 * request. The rule alone is not enough either, since it would override an approver that denies.
 * Synchronous and total.
 */
export function decide(snapshot: IssuerDecisionInput): CertificateRequestPlan {
  const { request, policy, reservedPrefixes } = snapshot;
  if (isFinished(request)) return { kind: 'ignore' };
  if (isDenied(request)) return { kind: 'deny' };
  if (!isApproved(request)) return { kind: 'ignore' };
  const violation = specViolation(request);
  if (violation !== undefined) return refusalOf([violation]);
  const csr = toReviewableRequest(request);
  const { profile, rules } = policy;
  const admitted = validateRequest({ csr, profile, reservedPrefixes, rules });
  return admitted.kind === 'fail' ? admitted : byRules(snapshot, csr, admitted.request);
}

function byRules(
  snapshot: IssuerDecisionInput,
  csr: ReviewableRequest,
  request: CertificationRequest,
): CertificateRequestPlan {
  const { profile, policy, authority, now } = snapshot;
  const { outcome, reasons, evaluationError } = review(policy, csr, request);
  const message = reasonsText(reasons);
  if (outcome === 'deny') return refusalOf([{ reason: 'DeniedByRule', message }]);
  if (outcome === 'noOpinion') return { kind: 'undecided', message, evaluationError };
  if (authority instanceof SignerError) return { kind: 'wait', error: authority };
  const { copy } = policy.profile;
  const leaf = leafTemplate({ spec: csr.spec, request, profile, copy, authority, now });
  return { ...leaf, rule: ruleOf(reasons, 'approve') };
}
