// SPDX-License-Identifier: Apache-2.0
import type { CompiledExpression } from '#cel/compile.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import type { CompiledDeny, CompiledRule, RequestPolicy } from './compile-policy.ts';
import { findMismatches, type ReviewedRequest } from './mismatches.ts';
import { requestVariables } from './variables.ts';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import * as messages from './denial-messages.ts';

/** The result of one rule. */
interface RuleResult extends VerdictReason {
  /** Whether the evaluation of one of its expressions failed. */
  readonly failed: boolean;
}

/**
 * Applies a policy to a request that has no violations. Every deny and every rule runs:
 *
 * 1. A deny whose `when` is true denies.
 * 2. A deny that cannot be evaluated might have denied: no opinion.
 * 3. A rule that allows the whole request approves.
 * 4. Otherwise no opinion: the request waits for a person.
 *
 * @param request - `csr.spec.request`, decoded
 */
export function review(
  policy: RequestPolicy,
  csr: ReviewableRequest,
  request: CertificationRequest,
): Verdict {
  const reviewed = readRequest(policy, csr, request);
  if (reviewed instanceof SignerError) return namesUnreadable(reviewed);
  const [denied, ruled] = policy.together(() => [
    policy.deny.map((deny) => evaluateDeny(deny, reviewed)),
    policy.rules.map((rule) => evaluateRule(rule, reviewed)),
  ]);
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

function evaluateDeny(
  { name, when, message }: CompiledDeny,
  reviewed: ReviewedRequest,
): RuleResult {
  const denies = evaluateWhen(when, reviewed);
  if (denies instanceof SignerError) return evaluationFailure(name, denies);
  return denies
    ? { rule: name, outcome: 'deny', message, failed: false }
    : { rule: name, outcome: 'noOpinion', message: messages.NOT_DENIED, failed: false };
}

function evaluateRule(rule: CompiledRule, reviewed: ReviewedRequest): RuleResult {
  const { name } = rule;
  const applies = evaluateWhen(rule.when, reviewed);
  if (applies instanceof SignerError) return evaluationFailure(name, applies);
  if (!applies) {
    return {
      rule: name,
      outcome: 'noOpinion',
      message: messages.NOT_APPLIED,
      failed: false,
    };
  }
  const mismatches = findMismatches(rule, reviewed);
  if (mismatches.length === 0) {
    return { rule: name, outcome: 'approve', message: messages.ALLOWS_ALL, failed: false };
  }
  return {
    rule: name,
    outcome: 'noOpinion',
    message: mismatches.map(({ message }) => message).join('; '),
    failed: mismatches.some(({ failed }) => failed),
  };
}

function evaluationFailure(rule: string, error: SignerError): RuleResult {
  return { rule, outcome: 'noOpinion', message: error.message, failed: true };
}

/** Evaluates a condition. A CEL error is a result: neither true nor false. */
function evaluateWhen(
  when: CompiledExpression<boolean>,
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

/**
 * Returns no opinion on names that the policy cannot read. validateRequest() reports such requests
 * first.
 */
function namesUnreadable({ message }: SignerError): Verdict {
  const reason: VerdictReason = { rule: 'names', outcome: 'noOpinion', message };
  return { outcome: 'noOpinion', reasons: [reason], evaluationError: false };
}

/** The outcome of a policy, or of one rule. With `noOpinion` the request waits for a person. */
export type VerdictOutcome = 'approve' | 'deny' | 'noOpinion';

/** The outcome of one rule, with its reason. */
export interface VerdictReason {
  readonly rule: string;
  readonly outcome: VerdictOutcome;
  readonly message: string;
}

/** The decision of a policy on a request. */
export interface Verdict {
  readonly outcome: VerdictOutcome;
  /** The reasons of every deny, then of every rule, in the order of the spec. */
  readonly reasons: readonly VerdictReason[];
  /** True if the evaluation of at least one expression failed. Callers emit an Event about it. */
  readonly evaluationError: boolean;
}

/** Returns the reasons as one text. Those that deny come first, because notes are cut. */
export function reasonsText(reasons: readonly VerdictReason[]): string {
  const denials = reasons.filter(({ outcome }) => outcome === 'deny');
  const others = reasons.filter(({ outcome }) => outcome !== 'deny');
  return [...denials, ...others]
    .map(({ rule, message }) => (rule === '' ? message : `${rule}: ${message}`))
    .join('; ');
}

/** Returns the first rule with this outcome, or undefined if it has no name. */
export function ruleOf(
  reasons: readonly VerdictReason[],
  outcome: VerdictOutcome,
): string | undefined {
  const { rule = '' } = reasons.find((each) => each.outcome === outcome) ?? {};
  return rule === '' ? undefined : rule;
}
