// SPDX-License-Identifier: Apache-2.0
import { isApproved, isFinished, type CertificateSigningRequest } from '../../api/request/csr.ts';
import { validateRequest } from '../../policy/validate.ts';
import type { RequestPolicy } from '../../policy/compile-policy.ts';
import { review, type Verdict } from '../../policy/review.ts';

export interface ApprovalInput {
  readonly csr: CertificateSigningRequest;
  readonly policy: RequestPolicy;
  /** Prefixes of names that are reserved besides `system:` and `kubeadm:`. */
  readonly reservedPrefixes: readonly string[];
}

/** What the shell does next. `wait` leaves the request to a person, or to another approver. */
export type ApprovalPlan =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'approve'; readonly reason: 'ApprovedByRule'; readonly message: string }
  | { readonly kind: 'deny'; readonly reason: string; readonly message: string }
  | { readonly kind: 'wait'; readonly message: string; readonly evaluationError: boolean };

/**
 * Decides one CertificateSigningRequest. Synchronous and total. Without rules and deny,
 * nothing is ever written; with them, a request that can never become a leaf is denied.
 */
export function decide(snapshot: ApprovalInput): ApprovalPlan {
  const { csr, policy, reservedPrefixes } = snapshot;
  if (isApproved(csr) || isFinished(csr)) return { kind: 'ignore' };
  if (policy.rules.length === 0 && policy.deny.length === 0) return { kind: 'ignore' };
  const admitted = validateRequest({ csr, profile: policy.profile, reservedPrefixes });
  if (admitted.kind === 'fail') return { ...admitted, kind: 'deny' };
  return planOf(review(policy, csr, admitted.request));
}

function planOf(verdict: Verdict): ApprovalPlan {
  const message = verdict.reasons
    .map(({ rule, message: why }) => (rule === '' ? why : `${rule}: ${why}`))
    .join('; ');
  switch (verdict.outcome) {
    case 'approve':
      return { kind: 'approve', reason: 'ApprovedByRule', message };
    case 'deny':
      return { kind: 'deny', reason: 'DeniedByRule', message };
    case 'noOpinion':
      return { kind: 'wait', message, evaluationError: verdict.evaluationError };
  }
}
