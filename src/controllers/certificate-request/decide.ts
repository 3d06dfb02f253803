// SPDX-License-Identifier: Apache-2.0
import type { Asking } from '../../api/asking.ts';
import {
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '../../api/certificate-request.ts';
import { SignerError } from '../../errors.ts';
import type { Profile } from '../../issuance/profile.ts';
import { requestSubject } from '../../issuance/request-subject.ts';
import { leafValidity, type Validity } from '../../issuance/validity.ts';
import type { CertificationRequest } from '../../pki/pkcs10.ts';
import type { RequestPolicy } from '../../policy/compile-policy.ts';
import { decodeSpec } from '../../policy/decode.ts';
import { refusals } from '../../policy/refusals.ts';
import { review } from '../../policy/review.ts';
import type { Wanted } from '../../serving/issuing.ts';
import type { KeyUsage } from '../../vocabulary.ts';
import { MIN_LIFETIME_SECONDS, askingOf, faultOf } from './asking.ts';

export interface Snapshot {
  readonly request: CertificateRequest;
  readonly profile: Profile;
  readonly policy: RequestPolicy;
  /** The CA's own validity, or why there is none to sign with now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  readonly now: number;
}

export type Plan =
  | { readonly kind: 'ignore' }
  /** An approver said no; that is to be shown. */
  | { readonly kind: 'deny' }
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string }
  /** No rule allows it. */
  | { readonly kind: 'undecided'; readonly message: string; readonly evaluationError: boolean }
  | { readonly kind: 'wait'; readonly error: SignerError }
  | ({ readonly kind: 'issue' } & Wanted);

/**
 * Decides one CertificateRequest. Two must agree to it: an approver, by the condition Approved, and
 * a rule of the ClusterSigner. cert-manager's own approver approves whatever is asked, so its word
 * alone is worth nothing; a rule alone would override an approver that says no. Synchronous and total.
 */
export function decide(snapshot: Snapshot): Plan {
  const { request, policy, reservedPrefixes } = snapshot;
  if (isFinished(request)) return { kind: 'ignore' };
  if (isDenied(request)) return { kind: 'deny' };
  if (!isApproved(request)) return { kind: 'ignore' };
  const fault = faultOf(request);
  if (fault !== undefined) return { kind: 'fail', ...fault };
  const asking = askingOf(request);
  const decoded = decodeSpec(asking);
  if (decoded.kind === 'refused') return { kind: 'fail', ...decoded.refusal };
  const found = refusals({
    csr: asking,
    request: decoded.request,
    profile: policy.profile,
    reservedPrefixes,
  });
  const [first] = found;
  if (first !== undefined) {
    const message = found.map((each) => each.message).join('; ');
    return { kind: 'fail', reason: first.reason, message };
  }
  return byRules(snapshot, asking, decoded.request);
}

function byRules(snapshot: Snapshot, asking: Asking, request: CertificationRequest): Plan {
  const { policy, authority } = snapshot;
  const { outcome, reasons, evaluationError } = review(policy, asking, request);
  const message = reasons.map(({ rule, message: why }) => `${rule}: ${why}`).join('; ');
  if (outcome === 'deny') return { kind: 'fail', reason: 'DeniedByRule', message };
  if (outcome === 'noOpinion') return { kind: 'undecided', message, evaluationError };
  if (authority instanceof SignerError) return { kind: 'wait', error: authority };
  return issue(snapshot, authority, asking, request);
}

function issue(
  { profile, policy, now }: Snapshot,
  authority: Validity,
  { spec }: Asking,
  request: CertificationRequest,
): Plan {
  const longest = profile.maxDurationSeconds;
  try {
    const validity = leafValidity({
      now,
      lifetimeSeconds: Math.min(spec.expirationSeconds ?? longest, longest),
      backdateSeconds: profile.backdateSeconds,
      minimumSeconds: Math.min(MIN_LIFETIME_SECONDS, longest),
      issuer: authority,
    });
    return {
      kind: 'issue',
      subject: requestSubject(request, policy.profile.copy),
      publicKey: request.publicKey,
      usages: (spec.usages ?? []) as readonly KeyUsage[],
      validity,
    };
  } catch (error) {
    if (error instanceof SignerError) return { kind: 'wait', error };
    throw error;
  }
}
