// SPDX-License-Identifier: Apache-2.0
import type { Compiled } from '../cel/compile.ts';
import { SignerError, attempt } from '../errors.ts';
import { requestedNames } from '../pki/x509/requested-names.ts';
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import type { CompiledDeny, CompiledRule, RequestPolicy } from './compile-policy.ts';
import { findMismatches, type ReviewedRequest } from './mismatches.ts';
import { requestVariables } from './variables.ts';
import type { ReviewableRequest } from '../api/request/reviewable-request.ts';

/** What one rule says; `failed`: one of its expressions could not be evaluated. */
interface RuleResult extends VerdictReason {
  readonly failed: boolean;
}

/**
 * What the policy says of a request that `refusals()` has nothing against. Every deny and every rule
 * runs. One deny denies; else one rule that allows the whole request approves; else no opinion. A
 * deny that cannot be evaluated might have denied, so nothing is approved beside it.
 *
 * @param request - `csr.spec.request`, decoded
 */
export function review(
  policy: RequestPolicy,
  csr: ReviewableRequest,
  request: CertificationRequest,
): Verdict {
  const asked = readRequest(policy, csr, request);
  if (asked instanceof SignerError) return namesUnreadable(asked);
  const denied = policy.deny.map((deny) => evaluateDeny(deny, asked));
  const ruled = policy.rules.map((rule) => evaluateRule(rule, asked));
  const all = [...denied, ...ruled];
  return {
    outcome: combineOutcomes(denied, ruled),
    reasons: all.map(({ rule, outcome, message }) => ({ rule, outcome, message })),
    evaluationError: all.some(({ failed }) => failed),
  };
}

function combineOutcomes(
  denied: readonly RuleResult[],
  ruled: readonly RuleResult[],
): VerdictOutcome {
  if (denied.some(({ outcome }) => outcome === 'deny')) return 'deny';
  if (denied.some(({ failed }) => failed)) return 'noOpinion';
  return ruled.some(({ outcome }) => outcome === 'approve') ? 'approve' : 'noOpinion';
}

function evaluateDeny({ name, when, message }: CompiledDeny, asked: ReviewedRequest): RuleResult {
  const holds = evaluateWhen(when, asked);
  if (holds instanceof SignerError) return evaluationFailure(name, holds);
  return holds
    ? { rule: name, outcome: 'deny', message, failed: false }
    : { rule: name, outcome: 'noOpinion', message: 'does not deny: when is false', failed: false };
}

function evaluateRule(rule: CompiledRule, asked: ReviewedRequest): RuleResult {
  const { name } = rule;
  const applies = evaluateWhen(rule.when, asked);
  if (applies instanceof SignerError) return evaluationFailure(name, applies);
  if (!applies) {
    return {
      rule: name,
      outcome: 'noOpinion',
      message: 'does not apply: when is false',
      failed: false,
    };
  }
  const faults = findMismatches(rule, asked);
  if (faults.length === 0) {
    return { rule: name, outcome: 'approve', message: 'allows the whole request', failed: false };
  }
  return {
    rule: name,
    outcome: 'noOpinion',
    message: faults.map(({ message }) => message).join(', '),
    failed: faults.some(({ failed }) => failed),
  };
}

function evaluationFailure(rule: string, error: SignerError): RuleResult {
  return { rule, outcome: 'noOpinion', message: error.message, failed: true };
}

/** What CEL throws is an answer: neither true nor false. */
function evaluateWhen(
  when: Compiled<boolean>,
  { variables }: ReviewedRequest,
): boolean | SignerError {
  return attempt(() => when.evaluate({ ...variables }));
}

function readRequest(
  policy: RequestPolicy,
  csr: ReviewableRequest,
  request: CertificationRequest,
): ReviewedRequest | SignerError {
  const names = attempt(() => requestedNames(request));
  if (names instanceof SignerError) return names;
  const variables = requestVariables(csr, request, names, policy.maxDurationSeconds);
  return { request, names, usages: csr.spec.usages ?? [], variables };
}

/** Callers refuse such requests before; a policy still has no opinion of names it cannot read. */
function namesUnreadable({ message }: SignerError): Verdict {
  const reason: VerdictReason = { rule: 'names', outcome: 'noOpinion', message };
  return { outcome: 'noOpinion', reasons: [reason], evaluationError: false };
}

/** What a policy says of a request. No opinion leaves it to a person. */
export type VerdictOutcome = 'approve' | 'deny' | 'noOpinion';

/** What one rule says, and why. */
export interface VerdictReason {
  readonly rule: string;
  readonly outcome: VerdictOutcome;
  readonly message: string;
}

export interface Verdict {
  readonly outcome: VerdictOutcome;
  /** Of every deny and every rule, in the order of the spec. */
  readonly reasons: readonly VerdictReason[];
  /** An expression could not be evaluated: worth an Event, since nobody meant that. */
  readonly evaluationError: boolean;
}
