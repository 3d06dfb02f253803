// SPDX-License-Identifier: Apache-2.0
import { isApproved, isFinished, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { SignerError } from '#base/errors.ts';
import { judgeIntermediate, type IntermediatePolicy } from '#ca/policy/intermediates.ts';
import { validateIntermediate } from '#ca/policy/validate-intermediate.ts';
import type { ApprovalPlan } from './decide.ts';
import * as messages from './messages.ts';

export interface IntermediateApprovalInput {
  readonly csr: CertificateSigningRequest;
  readonly policy: IntermediatePolicy;
  readonly reservedPrefixes: readonly string[];
}

/** The next action for a request. `error` is why a rule could not be evaluated. */
export type IntermediatePlan =
  | Extract<ApprovalPlan, { kind: 'ignore' | 'approve' | 'deny' }>
  | { readonly kind: 'error'; readonly error: SignerError };

/**
 * Decides one request for the CA of another cluster. Synchronous and total. A request that no rule
 * allows is denied: left undecided, a later rule could approve a request for the name of another
 * cluster.
 */
export function decideIntermediate(snapshot: IntermediateApprovalInput): IntermediatePlan {
  const { csr, policy, reservedPrefixes } = snapshot;
  if (isApproved(csr) || isFinished(csr)) return { kind: 'ignore' };
  const validated = validateIntermediate({ csr, keyTypes: policy.keyTypes, reservedPrefixes });
  if (validated.kind === 'fail') return { ...validated, kind: 'deny' };
  const verdict = judgeIntermediate(policy, csr, validated.asked);
  switch (verdict.outcome) {
    case 'unknown':
      return { kind: 'error', error: verdict.error };
    case 'deny':
      return { kind: 'deny', reason: 'NotAllowedByRule', message: verdict.message };
    case 'allow': {
      const { rule, names } = verdict;
      const { cluster } = validated.asked;
      const message = messages.intermediateAllowed(rule, cluster, names.trustDomain);
      return { kind: 'approve', reason: 'ApprovedByRule', message, rule };
    }
  }
}
