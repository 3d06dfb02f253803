// SPDX-License-Identifier: Apache-2.0
import type { Asking } from '../api/request/asking.ts';
import type { Compiled } from '../cel/compile.ts';
import { SignerError, attempt } from '../errors.ts';
import { requestedNames } from '../pki/x509/requested-names.ts';
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import type { CompiledDeny, CompiledRule, RequestPolicy } from './compile-policy.ts';
import { faultsOf, type Asked } from './faults.ts';
import { requestVariables } from './variables.ts';
import type { Reason, Verdict, VerdictOutcome } from './verdict.ts';

/** What one rule says; `failed`: one of its expressions could not be evaluated. */
interface Finding extends Reason {
  readonly failed: boolean;
}

/**
 * What the policy says of a request that `refusals()` has nothing against. Every deny and every rule
 * runs. One deny denies; else one rule that allows the whole request approves; else no opinion. A
 * deny that cannot be evaluated might have denied, so nothing is approved beside it.
 *
 * @param request - `csr.spec.request`, decoded
 */
export function review(policy: RequestPolicy, csr: Asking, request: CertificationRequest): Verdict {
  const asked = askedOf(policy, csr, request);
  if (asked instanceof SignerError) return withoutNames(asked);
  const denied = policy.deny.map((deny) => judgeDeny(deny, asked));
  const ruled = policy.rules.map((rule) => judgeRule(rule, asked));
  const all = [...denied, ...ruled];
  return {
    outcome: outcomeOf(denied, ruled),
    reasons: all.map(({ rule, outcome, message }) => ({ rule, outcome, message })),
    evaluationError: all.some(({ failed }) => failed),
  };
}

function outcomeOf(denied: readonly Finding[], ruled: readonly Finding[]): VerdictOutcome {
  if (denied.some(({ outcome }) => outcome === 'deny')) return 'deny';
  if (denied.some(({ failed }) => failed)) return 'noOpinion';
  return ruled.some(({ outcome }) => outcome === 'approve') ? 'approve' : 'noOpinion';
}

function judgeDeny({ name, when, message }: CompiledDeny, asked: Asked): Finding {
  const holds = answerOf(when, asked);
  if (holds instanceof SignerError) return failure(name, holds);
  return holds
    ? { rule: name, outcome: 'deny', message, failed: false }
    : { rule: name, outcome: 'noOpinion', message: 'does not deny: when is false', failed: false };
}

function judgeRule(rule: CompiledRule, asked: Asked): Finding {
  const { name } = rule;
  const applies = answerOf(rule.when, asked);
  if (applies instanceof SignerError) return failure(name, applies);
  if (!applies) {
    return {
      rule: name,
      outcome: 'noOpinion',
      message: 'does not apply: when is false',
      failed: false,
    };
  }
  const faults = faultsOf(rule, asked);
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

function failure(rule: string, error: SignerError): Finding {
  return { rule, outcome: 'noOpinion', message: error.message, failed: true };
}

/** What CEL throws is an answer: neither true nor false. */
function answerOf(when: Compiled<boolean>, { variables }: Asked): boolean | SignerError {
  return attempt(() => when.evaluate({ ...variables }));
}

function askedOf(
  policy: RequestPolicy,
  csr: Asking,
  request: CertificationRequest,
): Asked | SignerError {
  const names = attempt(() => requestedNames(request));
  if (names instanceof SignerError) return names;
  const variables = requestVariables(csr, request, names, policy.maxDurationSeconds);
  return { request, names, usages: csr.spec.usages ?? [], variables };
}

/** Callers refuse such requests before; a policy still has no opinion of names it cannot read. */
function withoutNames({ message }: SignerError): Verdict {
  const reason: Reason = { rule: 'names', outcome: 'noOpinion', message };
  return { outcome: 'noOpinion', reasons: [reason], evaluationError: false };
}
