// SPDX-License-Identifier: Apache-2.0
/** `spec.intermediates`: who may have the CA of which cluster, and within which names. */
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import type {
  IntermediateRule,
  IntermediateUsage,
  SignerSpec,
} from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { NO_DEADLINE, type Deadline } from '#base/ports.ts';
import type { KeyType } from '#base/vocabulary.ts';
import { compileExpression, type CompiledExpression } from '#cel/compile.ts';
import { createBudget, type Budget } from '#cel/cost/budget.ts';
import { INTERMEDIATE } from '#cel/environments.ts';
import { requesterVariables } from './variables.ts';
import type { IntermediateRequest } from './validate-intermediate.ts';
import * as messages from './intermediate-messages.ts';

/** One entry of `rules`. */
interface CompiledRule {
  readonly name: string;
  readonly when: CompiledExpression<boolean>;
  readonly trustDomain: CompiledExpression<string>;
  readonly isUriConstrained: boolean;
  readonly dnsConstraints: readonly CompiledExpression<string>[];
  readonly usages: readonly IntermediateUsage[];
}

/** `spec.intermediates`, compiled once per generation. Immutable. */
export interface IntermediatePolicy {
  readonly rules: readonly CompiledRule[];
  readonly keyTypes: readonly KeyType[];
  /** Longest life of a CA, unless a sixth of the life of its issuer is shorter. */
  readonly maxDurationSeconds: number;
  /** Runs work that evaluates several expressions, under one deadline. See {@link Deadline}. */
  readonly together: <T>(work: () => T) => T;
}

/** The names that an intermediate CA has, and those that its leaves may have. */
export interface IntermediateNames {
  /** Canonical. Its first label is the name of the cluster. */
  readonly trustDomain: string;
  /** True if the CA permits URIs of its trust domain only. */
  readonly isUriConstrained: boolean;
  /** The permitted DNS domains. If empty, any DNS name. */
  readonly dnsConstraints: readonly string[];
}

/**
 * The decision on a valid request. `unknown`: an expression failed, so nothing is decided. No
 * person decides instead: the rule names the trust domain.
 */
export type IntermediateVerdict =
  | { readonly outcome: 'allow'; readonly rule: string; readonly names: IntermediateNames }
  | { readonly outcome: 'deny'; readonly message: string }
  | { readonly outcome: 'unknown'; readonly error: SignerError };

const WHERE = 'spec.intermediates';

/**
 * Compiles `spec.intermediates` of a valid spec. Without it, the policy allows nothing.
 *
 * @param deadline - limits its compilation and its runs. Default: no limit.
 * @throws SignerError CEL_INVALID or CEL_COST (`wait`) with the field, the line, the column and the
 *   offending name
 */
export function compileIntermediates(
  { intermediates, profile }: SignerSpec,
  deadline: Deadline = NO_DEADLINE,
): IntermediatePolicy {
  const budget = createBudget(WHERE);
  const rules = (intermediates?.rules ?? []).map((rule, index) =>
    compileRule(rule, `${WHERE}.rules[${index}]`, { budget, deadline }),
  );
  return Object.freeze({
    rules: Object.freeze(rules),
    keyTypes: Object.freeze([...profile.keyTypes]),
    maxDurationSeconds: parseDuration(profile.maxDuration),
    together: <T>(work: () => T): T => deadline.together(WHERE, budget.worstCase(), work),
  });
}

function compileRule(
  rule: IntermediateRule,
  where: string,
  { budget, deadline }: { readonly budget: Budget; readonly deadline: Deadline },
): CompiledRule {
  const shared = { environment: INTERMEDIATE, deadline } as const;
  const text = (source: string, field: string): CompiledExpression<string> =>
    budget.take(
      compileExpression({ ...shared, source, where: `${where}.${field}`, result: 'string' }),
    );
  const { when: source } = rule;
  return Object.freeze({
    name: rule.name,
    when: budget.take(
      compileExpression({ ...shared, source, where: `${where}.when`, result: 'bool' }),
    ),
    trustDomain: text(rule.trustDomain, 'trustDomain'),
    isUriConstrained: rule.uriConstraint === 'TrustDomain',
    dnsConstraints: Object.freeze(
      (rule.dnsConstraints ?? []).map((each, at) => text(each, `dnsConstraints[${at}]`)),
    ),
    usages: Object.freeze([...rule.usages]),
  });
}

/**
 * Decides a valid request by the first rule that allows it. A rule before it that cannot be
 * evaluated might have allowed less, so nothing is decided then.
 */
export function judgeIntermediate(
  policy: IntermediatePolicy,
  csr: ReviewableRequest,
  asked: IntermediateRequest,
): IntermediateVerdict {
  const { cluster } = asked;
  const request = requesterVariables(csr, policy.maxDurationSeconds);
  const reasons: string[] = [];
  const decided = attempt(() =>
    policy.together(() => {
      for (const rule of policy.rules) {
        const found = applyRule(rule, { cluster, request }, asked);
        if (typeof found !== 'string') return { rule: rule.name, names: found };
        reasons.push(`${rule.name}: ${found}`);
      }
      return undefined;
    }),
  );
  if (decided instanceof SignerError) return { outcome: 'unknown', error: decided };
  if (decided !== undefined) return { outcome: 'allow', ...decided };
  return { outcome: 'deny', message: reasons.join('; ') };
}

interface Variables extends Readonly<Record<string, unknown>> {
  readonly cluster: string;
}

/**
 * Returns the names that a rule gives the CA, or why it does not allow the request.
 *
 * @throws SignerError CEL_EVALUATION (`wait`)
 */
function applyRule(
  rule: CompiledRule,
  variables: Variables,
  { usages }: IntermediateRequest,
): IntermediateNames | string {
  if (!rule.when.evaluate(variables)) return messages.NOT_APPLIED;
  const missing = usages.filter((usage) => !rule.usages.includes(usage));
  if (missing.length > 0) return messages.usagesNotAllowed(missing);
  return {
    trustDomain: trustDomainOf(rule.trustDomain, variables),
    isUriConstrained: rule.isUriConstrained,
    dnsConstraints: rule.dnsConstraints.map((each) => domainOf(each, variables)),
  };
}

const DNS_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;
const MAX_DNS_NAME = 253;

/**
 * Returns the trust domain. Its first label is the name of the cluster, which has no dot, so that
 * two clusters never have the same trust domain.
 */
function trustDomainOf(expression: CompiledExpression<string>, variables: Variables): string {
  const found = expression.evaluate(variables);
  const { cluster } = variables;
  if (isDnsName(found) && (found === cluster || found.startsWith(`${cluster}.`))) return found;
  throw invalidResult(messages.notATrustDomain(expression.where, found, cluster));
}

function domainOf(expression: CompiledExpression<string>, variables: Variables): string {
  const found = expression.evaluate(variables);
  // An empty constraint would permit every name (RFC 5280 §4.2.1.10).
  if (isDnsName(found)) return found;
  throw invalidResult(messages.notADomain(expression.where, found));
}

/** Four numbers are an address, with which verifiers do not compare constraints. */
const NUMBERS = /^[0-9.]+$/;

function isDnsName(text: string): boolean {
  return text.length <= MAX_DNS_NAME && DNS_NAME.test(text) && !NUMBERS.test(text);
}

function invalidResult(message: string): SignerError {
  return new SignerError({ code: 'CEL_EVALUATION', disposition: 'wait', message });
}
