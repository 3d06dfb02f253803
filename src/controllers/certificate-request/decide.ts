// SPDX-License-Identifier: Apache-2.0
import {
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '../../api/request/certificate-request.ts';
import { SignerError } from '../../errors.ts';
import type { Profile } from '../../issuance/profile.ts';
import type { Validity } from '../../issuance/validity.ts';
import type { CertificationRequest } from '../../pki/x509/pkcs10.ts';
import { validateRequest } from '../../policy/validate.ts';
import type { RequestPolicy } from '../../policy/compile-policy.ts';
import { review } from '../../policy/review.ts';
import { leafTemplate, type PlannedLeaf } from '../../runtime/issuing/leaf-template.ts';
import { askingOf, faultOf } from './asking.ts';
import type { ReviewableRequest } from '../../api/request/reviewable-request.ts';

export interface CertificateRequestDecisionInput {
  readonly request: CertificateRequest;
  readonly profile: Profile;
  readonly policy: RequestPolicy;
  /** The CA's own validity, or why there is none to sign with now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  readonly now: number;
}

export type CertificateRequestPlan =
  | { readonly kind: 'ignore' }
  /** An approver said no; that is to be shown. */
  | { readonly kind: 'deny' }
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string }
  /** No rule allows it. */
  | { readonly kind: 'undecided'; readonly message: string; readonly evaluationError: boolean }
  | PlannedLeaf;

/**
 * Decides one CertificateRequest. Two must agree to it: an approver, by the condition Approved, and
 * a rule of the ClusterSigner. cert-manager's own approver approves whatever is asked, so its word
 * alone is worth nothing; a rule alone would override an approver that says no. Synchronous and total.
 */
export function decide(snapshot: CertificateRequestDecisionInput): CertificateRequestPlan {
  const { request, policy, reservedPrefixes } = snapshot;
  if (isFinished(request)) return { kind: 'ignore' };
  if (isDenied(request)) return { kind: 'deny' };
  if (!isApproved(request)) return { kind: 'ignore' };
  const fault = faultOf(request);
  if (fault !== undefined) return { kind: 'fail', ...fault };
  const asking = askingOf(request);
  const admitted = validateRequest({ csr: asking, profile: policy.profile, reservedPrefixes });
  return admitted.kind === 'fail' ? admitted : byRules(snapshot, asking, admitted.request);
}

function byRules(
  snapshot: CertificateRequestDecisionInput,
  asking: ReviewableRequest,
  request: CertificationRequest,
): CertificateRequestPlan {
  const { profile, policy, authority, now } = snapshot;
  const { outcome, reasons, evaluationError } = review(policy, asking, request);
  const message = reasons.map(({ rule, message: why }) => `${rule}: ${why}`).join('; ');
  if (outcome === 'deny') return { kind: 'fail', reason: 'DeniedByRule', message };
  if (outcome === 'noOpinion') return { kind: 'undecided', message, evaluationError };
  if (authority instanceof SignerError) return { kind: 'wait', error: authority };
  const { spec } = asking;
  return leafTemplate({ spec, request, profile, copy: policy.profile.copy, authority, now });
}
