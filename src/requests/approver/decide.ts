// SPDX-License-Identifier: Apache-2.0
import { isApproved, isFinished, type CertificateSigningRequest } from '#api/request/csr.ts';
import { validateRequest } from '#ca/policy/validate.ts';
import type { RequestPolicy } from '#ca/policy/compile-policy.ts';
import { omittedFields } from '#ca/policy/omitted-fields.ts';
import { reasonsText, review, ruleOf, type Verdict } from '#ca/policy/review.ts';

export interface ApprovalInput {
  readonly csr: CertificateSigningRequest;
  readonly policy: RequestPolicy;
  /** Reserved name prefixes besides `system:` and `kubeadm:`. */
  readonly reservedPrefixes: readonly string[];
}

/** The next action for a request. `wait` leaves it to a person or another approver. */
export type ApprovalPlan =
  | { readonly kind: 'ignore' }
  | ({
      readonly kind: 'approve';
      readonly reason: 'ApprovedByRule';
      readonly message: string;
    } & OmissionText &
      ByRule)
  | ({ readonly kind: 'deny'; readonly reason: string; readonly message: string } & ByRule)
  /** A person decides, and the signer would fail the request after an approval. */
  | { readonly kind: 'unissuable'; readonly reason: string; readonly message: string }
  | ({
      readonly kind: 'wait';
      readonly message: string;
      readonly evaluationError: boolean;
    } & OmissionText);

/** The rule that decided, if it has a name. */
interface ByRule {
  readonly rule?: string | undefined;
}

/** Text on what the certificate would omit of the request. Absent if it omits nothing. */
interface OmissionText {
  readonly omitted?: string;
}

/**
 * Decides one CertificateSigningRequest. Synchronous and total. Without rules and deny, it never
 * writes, and reports a request that can never become a leaf. With them, it denies such a request.
 */
export function decide(snapshot: ApprovalInput): ApprovalPlan {
  const { csr, policy, reservedPrefixes } = snapshot;
  if (isApproved(csr) || isFinished(csr)) return { kind: 'ignore' };
  const { profile, rules, deny, maxDurationSeconds } = policy;
  const admitted = validateRequest({ csr, profile, reservedPrefixes, rules });
  if (rules.length === 0 && deny.length === 0) {
    return admitted.kind === 'fail' ? { ...admitted, kind: 'unissuable' } : { kind: 'ignore' };
  }
  if (admitted.kind === 'fail') return { ...admitted, kind: 'deny' };
  const lacks = omittedFields(csr.spec, admitted.request, { ...profile, maxDurationSeconds });
  const plan = planOf(review(policy, csr, admitted.request));
  return lacks === undefined || plan.kind === 'deny' ? plan : { ...plan, omitted: lacks };
}

function planOf(verdict: Verdict): Exclude<ApprovalPlan, { kind: 'ignore' | 'unissuable' }> {
  const { reasons } = verdict;
  const message = reasonsText(reasons);
  switch (verdict.outcome) {
    case 'approve':
      return {
        kind: 'approve',
        reason: 'ApprovedByRule',
        message,
        rule: ruleOf(reasons, 'approve'),
      };
    case 'deny':
      return { kind: 'deny', reason: 'DeniedByRule', message, rule: ruleOf(reasons, 'deny') };
    case 'noOpinion':
      return { kind: 'wait', message, evaluationError: verdict.evaluationError };
  }
}
