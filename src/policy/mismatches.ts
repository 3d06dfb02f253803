// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../errors.ts';
import { unsupportedParts, type RequestedNames } from '../pki/x509/requested-names.ts';
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import { REQUEST_FIELDS, type RequestField } from '../vocabulary.ts';
import type { CompiledRule } from './compile-policy.ts';
import { quoteList } from './quote.ts';
import type { RequestVariables } from './variables.ts';

/** A request as the rules look at it. */
export interface ReviewedRequest {
  readonly request: CertificationRequest;
  readonly names: RequestedNames;
  readonly usages: readonly string[];
  readonly variables: RequestVariables;
}

/** Why a rule does not allow a request. */
export interface Mismatch {
  readonly message: string;
  /** An expression could not be evaluated: whether it allows the request is not known. */
  readonly failed: boolean;
}

/**
 * What of a request a rule does not allow; empty: it allows the whole. A rule approves only what it
 * names, or `O=kubeadm:cluster-admins` would slip in beside a common name that it approves.
 */
export function findMismatches(rule: CompiledRule, asked: ReviewedRequest): readonly Mismatch[] {
  const fields = REQUEST_FIELDS.map((field) => fieldMismatch(rule, field, asked));
  const others = [unsupportedPartsMismatch(asked.request), usageMismatch(rule, asked.usages)].map(
    (message) => (message === undefined ? undefined : { message, failed: false }),
  );
  return [...fields, ...others].filter((fault) => fault !== undefined);
}

function fieldMismatch(
  rule: CompiledRule,
  field: RequestField,
  asked: ReviewedRequest,
): Mismatch | undefined {
  const found = attempt(() => describeMismatch(rule, field, asked));
  if (found instanceof SignerError) return { message: found.message, failed: true };
  return found === undefined ? undefined : { message: found, failed: false };
}

function describeMismatch(
  rule: CompiledRule,
  field: RequestField,
  asked: ReviewedRequest,
): string | undefined {
  const values = valuesOf(asked.names, field);
  const allow = rule.allow[field];
  if (values.length === 0) return undefined;
  if (allow === undefined) {
    return `allow does not name ${field}, which the request has: ${quoteList(values)}`;
  }
  const refused = values.filter((self) => !allow.evaluate({ ...asked.variables, self }));
  return refused.length === 0 ? undefined : `allow.${field} does not allow ${quoteList(refused)}`;
}

function valuesOf(names: RequestedNames, field: RequestField): readonly string[] {
  const value = names[field];
  if (typeof value !== 'string') return value;
  return value === '' ? [] : [value];
}

/** No field of `allow` could name them. */
function unsupportedPartsMismatch(request: CertificationRequest): string | undefined {
  const parts = unsupportedParts(request);
  return parts.length === 0 ? undefined : `no rule can allow ${quoteList(parts)}`;
}

function usageMismatch(rule: CompiledRule, usages: readonly string[]): string | undefined {
  if (usages.length === 0) return 'the request has no usages';
  const known: readonly string[] = rule.usages;
  const outside = usages.filter((usage) => !known.includes(usage));
  const allowed = known.length === 0 ? 'none' : known.join(', ');
  return outside.length === 0
    ? undefined
    : `allow.usages does not allow ${quoteList(outside)}, only ${allowed}`;
}
