// SPDX-License-Identifier: Apache-2.0
import type { AllowSpec, ClusterSignerSpec, DenyRule, RequestRule } from '../api/cluster-signer.ts';
import { parseDuration } from '../api/duration.ts';
import { compileExpression, type Compiled } from '../cel/compile.ts';
import { REQUEST, selfOf } from '../cel/environments.ts';
import { REQUEST_FIELDS, type KeyUsage, type RequestField } from '../vocabulary.ts';
import { checkPolicyCost } from './policy-cost.ts';
import type { RefusalProfile } from './refusal.ts';

export interface CompiledRule {
  readonly name: string;
  readonly when: Compiled<boolean>;
  /** Fields that are not here must be empty in the request. */
  readonly allow: Readonly<Partial<Record<RequestField, Compiled<boolean>>>>;
  /** `allow.usages` ∩ `profile.usages`. */
  readonly usages: readonly KeyUsage[];
}

export interface CompiledDeny {
  readonly name: string;
  readonly when: Compiled<boolean>;
  readonly message: string;
}

/** `spec.requests`, compiled once for each generation, never changed. */
export interface RequestPolicy {
  readonly signerName: string;
  /** For `refusals()`. */
  readonly profile: RefusalProfile;
  readonly maxDurationSeconds: number;
  /** Both empty: nobody asked the approver to decide, and it must write nothing. */
  readonly rules: readonly CompiledRule[];
  readonly deny: readonly CompiledDeny[];
}

/**
 * Compiles the rules of a checked spec; a spec without `requests` has none.
 *
 * @throws SignerError CEL_INVALID or CEL_COST (`wait`), naming the field, the line, the column and
 * the offending name, or the dearest expression where only all together cost too much
 */
export function compilePolicy(spec: ClusterSignerSpec): RequestPolicy {
  const { profile, requests, signerName } = spec;
  const policy = Object.freeze({
    signerName,
    profile: Object.freeze({
      keyTypes: Object.freeze([...profile.keyTypes]),
      usages: Object.freeze([...profile.usages]),
      copy: Object.freeze([...(requests?.copy ?? [])]),
    }),
    maxDurationSeconds: parseDuration(profile.maxDuration),
    rules: Object.freeze(
      (requests?.rules ?? []).map((rule, index) => compileRule(rule, index, profile.usages)),
    ),
    deny: Object.freeze((requests?.deny ?? []).map(compileDeny)),
  });
  checkPolicyCost([
    ...policy.deny.map(({ when }) => when),
    ...policy.rules.flatMap(({ when, allow }) => [when, ...Object.values(allow)]),
  ]);
  return policy;
}

function compileRule(rule: RequestRule, index: number, allowed: readonly KeyUsage[]): CompiledRule {
  const where = `spec.requests.rules[${index}]`;
  return Object.freeze({
    name: rule.name,
    when: compileExpression({
      source: rule.when,
      where: `${where}.when`,
      environment: REQUEST,
      result: 'bool',
    }),
    allow: compileAllow(rule.allow, `${where}.allow`),
    usages: Object.freeze((rule.allow.usages ?? []).filter((usage) => allowed.includes(usage))),
  });
}

function compileAllow(allow: AllowSpec, where: string): CompiledRule['allow'] {
  const compiled: Partial<Record<RequestField, Compiled<boolean>>> = {};
  for (const field of REQUEST_FIELDS) {
    const source = allow[field];
    if (source === undefined) continue;
    compiled[field] = compileExpression({
      source,
      where: `${where}.${field}`,
      environment: selfOf(field),
      result: 'bool',
    });
  }
  return Object.freeze(compiled);
}

function compileDeny(rule: DenyRule, index: number): CompiledDeny {
  return Object.freeze({
    name: rule.name,
    message: rule.message,
    when: compileExpression({
      source: rule.when,
      where: `spec.requests.deny[${index}].when`,
      environment: REQUEST,
      result: 'bool',
    }),
  });
}
