// SPDX-License-Identifier: Apache-2.0
import type { AllowSpec, DenyRule, RequestRule, SignerSpec } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import { createBudget, type Budget } from '#cel/cost/budget.ts';
import { compileExpression, type CompiledExpression } from '#cel/compile.ts';
import { NAMESPACED_REQUEST, REQUEST, selfOf, type Environment } from '#cel/environments.ts';
import { NO_DEADLINE, type Deadline } from '#base/ports.ts';
import { REQUEST_FIELDS, type KeyUsage, type RequestField } from '#base/vocabulary.ts';
import type { RequestProfile } from './violations/violation.ts';

/** One entry of `rules`. */
export interface CompiledRule {
  readonly name: string;
  readonly when: CompiledExpression<boolean>;
  /** A request must leave the fields empty that are missing here. */
  readonly allow: Readonly<Partial<Record<RequestField, CompiledExpression<boolean>>>>;
  /** `allow.usages` ∩ `profile.usages`. */
  readonly usages: readonly KeyUsage[];
  /** `allow.extensions` and `allow.attributes`: OIDs. */
  readonly extensions: readonly string[];
  readonly attributes: readonly string[];
}

/** One entry of `deny`. */
export interface CompiledDeny {
  readonly name: string;
  readonly when: CompiledExpression<boolean>;
  readonly message: string;
}

/** `spec.requests` or `spec.certificateRequests`, compiled once per generation. Immutable. */
export interface RequestPolicy {
  readonly signerName: string;
  /** The profile for findViolations(). */
  readonly profile: RequestProfile;
  readonly maxDurationSeconds: number;
  /** If there are neither rules nor deny, the approver must not decide. A person does. */
  readonly rules: readonly CompiledRule[];
  readonly deny: readonly CompiledDeny[];
  /**
   * Runs work that evaluates several of these at once, under one deadline. See {@link Deadline}.
   */
  readonly together: <T>(work: () => T) => T;
}

/** The part of a spec with the rules, and the variables that they see. */
interface RuleSection {
  readonly where: string;
  readonly environment: Environment;
  readonly rules: readonly RequestRule[];
  readonly deny: readonly DenyRule[];
  readonly copy: readonly RequestField[];
  readonly isWhole?: true;
  /** Charges each expression to the budget of the whole part. */
  readonly budget: Budget;
  /** Limits its compilation and its runs. */
  readonly deadline: Deadline;
}

/**
 * Compiles `spec.requests` of a valid spec, for CertificateSigningRequests. Without `requests` the
 * policy has no rules.
 *
 * @param deadline - limits its compilation and its runs. Default: no limit.
 * @throws SignerError CEL_INVALID or CEL_COST (`wait`) with the field, the line, the column and the
 *   offending name. If only the sum exceeds the budget, it names the most expensive expression.
 */
export function compilePolicy(spec: SignerSpec, deadline: Deadline = NO_DEADLINE): RequestPolicy {
  const { rules = [], deny = [], copy = [] } = spec.requests ?? {};
  return compileSection(spec, {
    where: 'spec.requests',
    budget: createBudget('spec.requests'),
    environment: REQUEST,
    deadline,
    rules,
    deny,
    copy,
  });
}

/**
 * Compiles `spec.certificateRequests`, for cert-manager's CertificateRequests. A leaf gets all
 * names of the request or is not issued: cert-manager compares the two, and requests again without
 * end if a name is missing.
 *
 * @param deadline - limits its compilation and its runs. Default: no limit.
 * @throws SignerError CEL_INVALID or CEL_COST (`wait`)
 */
export function compileIssuerPolicy(
  spec: SignerSpec,
  deadline: Deadline = NO_DEADLINE,
): RequestPolicy {
  const { rules = [], deny = [] } = spec.certificateRequests ?? {};
  return compileSection(spec, {
    where: 'spec.certificateRequests',
    budget: createBudget('spec.certificateRequests'),
    environment: NAMESPACED_REQUEST,
    deadline,
    rules,
    deny,
    copy: REQUEST_FIELDS,
    isWhole: true,
  });
}

function compileSection({ profile, signerName }: SignerSpec, part: RuleSection): RequestPolicy {
  return Object.freeze({
    signerName,
    profile: Object.freeze({
      keyTypes: Object.freeze([...profile.keyTypes]),
      usages: Object.freeze([...profile.usages]),
      copy: Object.freeze([...part.copy]),
      ...(part.isWhole === true ? { isWhole: true } : {}),
    }),
    maxDurationSeconds: parseDuration(profile.maxDuration),
    rules: Object.freeze(
      part.rules.map((rule, index) => compileRule(part, rule, index, profile.usages)),
    ),
    deny: Object.freeze(part.deny.map((rule, index) => compileDeny(part, rule, index))),
    together: <T>(work: () => T): T =>
      part.deadline.together(part.where, part.budget.worstCase(), work),
  });
}

function compileRule(
  part: RuleSection,
  rule: RequestRule,
  index: number,
  allowed: readonly KeyUsage[],
): CompiledRule {
  const { environment, budget, deadline } = part;
  const where = `${part.where}.rules[${index}]`;
  return Object.freeze({
    name: rule.name,
    when: budget.take(
      compileExpression({
        source: rule.when,
        where: `${where}.when`,
        environment,
        result: 'bool',
        deadline,
      }),
    ),
    allow: compileAllow(rule.allow, part, `${where}.allow`),
    usages: Object.freeze((rule.allow.usages ?? []).filter((usage) => allowed.includes(usage))),
    extensions: Object.freeze([...(rule.allow.extensions ?? [])]),
    attributes: Object.freeze([...(rule.allow.attributes ?? [])]),
  });
}

function compileAllow(
  allow: AllowSpec,
  { environment, budget, deadline }: RuleSection,
  where: string,
): CompiledRule['allow'] {
  const compiled: Partial<Record<RequestField, CompiledExpression<boolean>>> = {};
  for (const field of REQUEST_FIELDS) {
    const source = allow[field];
    if (source === undefined) continue;
    compiled[field] = budget.take(
      compileExpression({
        source,
        where: `${where}.${field}`,
        environment: selfOf(field, environment),
        result: 'bool',
        deadline,
      }),
    );
  }
  return Object.freeze(compiled);
}

function compileDeny(part: RuleSection, rule: DenyRule, index: number): CompiledDeny {
  return Object.freeze({
    name: rule.name,
    message: rule.message,
    when: part.budget.take(
      compileExpression({
        source: rule.when,
        where: `${part.where}.deny[${index}].when`,
        environment: part.environment,
        result: 'bool',
        deadline: part.deadline,
      }),
    ),
  });
}
