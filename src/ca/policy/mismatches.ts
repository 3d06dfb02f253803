// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import { isPurpose } from '#pki/extensions/usages.ts';
import { unsupportedParts } from '#pki/x509/requested-names.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { REQUEST_FIELDS, type LeafSubject, type RequestField } from '#base/vocabulary.ts';
import type { CompiledRule } from './compile-policy.ts';
import { describeOid, unlistedAttributes, unlistedExtensions } from './unlisted-extensions.ts';
import { missingPurposes, usableUsages } from './usable-usages.ts';
import type { RequestVariables } from './variables.ts';
import * as messages from './denial-messages.ts';

/** A request as rules see it. */
export interface ReviewedRequest {
  readonly request: CertificationRequest;
  readonly names: LeafSubject;
  /** `spec.usages` of the request. */
  readonly usages: readonly string[];
  readonly variables: RequestVariables;
}

/** One part of a request that a rule does not allow. */
export interface Mismatch {
  readonly message: string;
  /** True if an expression failed, so that it is unknown whether the rule allows the part. */
  readonly failed: boolean;
}

/**
 * Compares every part of a request with a rule. A rule allows only what it names. Otherwise it
 * would approve `O=kubeadm:cluster-admins` together with a common name that it allows.
 *
 * @returns the parts that the rule does not allow, or nothing if it allows the whole request
 */
export function findMismatches(rule: CompiledRule, reviewed: ReviewedRequest): readonly Mismatch[] {
  const fields = REQUEST_FIELDS.map((field) => fieldMismatch(rule, field, reviewed));
  const others = [
    unsupportedPartsMismatch(reviewed.request),
    ...staticMismatches(rule, reviewed),
  ].map((message) => (message === undefined ? undefined : { message, failed: false }));
  return [...fields, ...others].filter((each) => each !== undefined);
}

/**
 * Compares the parts of a request that a rule lists by name: usages, extensions and attributes. No
 * expression runs, so that a request with malformed names can be compared as well.
 *
 * @param usages - the usages to compare. Default: all of the request.
 */
export function staticMismatches(
  rule: CompiledRule,
  asked: Pick<ReviewedRequest, 'request' | 'usages'>,
  usages: readonly string[] = asked.usages,
): readonly string[] {
  return [
    ...(asked.usages.length > 0 && usages.length === 0
      ? []
      : [usageMismatch(rule, { ...asked, usages })]),
    oidMismatch('extensions', unlistedExtensions(asked), rule.extensions, asked),
    oidMismatch('attributes', unlistedAttributes(asked.request), rule.attributes, asked),
  ].filter((each) => each !== undefined);
}

function fieldMismatch(
  rule: CompiledRule,
  field: RequestField,
  reviewed: ReviewedRequest,
): Mismatch | undefined {
  const found = attempt(() => describeMismatch(rule, field, reviewed));
  if (found instanceof SignerError) return { message: found.message, failed: true };
  return found === undefined ? undefined : { message: found, failed: false };
}

function describeMismatch(
  rule: CompiledRule,
  field: RequestField,
  reviewed: ReviewedRequest,
): string | undefined {
  const values = valuesOf(reviewed.names, field);
  const allow = rule.allow[field];
  if (values.length === 0) return undefined;
  if (allow === undefined) {
    return messages.noExpression(field, values);
  }
  const rejected = values.filter((self) => !allow.evaluate({ ...reviewed.variables, self }));
  return rejected.length === 0 ? undefined : messages.valuesNotAllowed(field, rejected);
}

function valuesOf(names: LeafSubject, field: RequestField): readonly string[] {
  const value = names[field];
  if (typeof value !== 'string') return value;
  return value === '' ? [] : [value];
}

/** Returns the mismatch of attributes and name types that `allow` has no field for. */
function unsupportedPartsMismatch(request: CertificationRequest): string | undefined {
  const parts = unsupportedParts(request);
  return parts.length === 0 ? undefined : messages.partsNotAllowed(parts);
}

/** The number of OIDs in a message, which counts the rest. */
const MAX_NAMED_OIDS = 5;

function oidMismatch(
  field: 'extensions' | 'attributes',
  found: readonly string[],
  allowed: readonly string[],
  asked: Pick<ReviewedRequest, 'request' | 'usages'>,
): string | undefined {
  const outside = found.filter((oid) => !allowed.includes(oid));
  if (outside.length === 0) return undefined;
  const shown = outside.slice(0, MAX_NAMED_OIDS);
  const named = shown.map((oid) => describeOid(oid, asked)).join(', ');
  const more = outside.length - MAX_NAMED_OIDS;
  const others = more > 0 ? messages.moreOids(more) : '';
  return messages.oidsNotAllowed(field, named, others);
}

function usageMismatch(
  rule: CompiledRule,
  { request, usages }: Pick<ReviewedRequest, 'request' | 'usages'>,
): string | undefined {
  if (usages.length === 0) return messages.NO_REQUESTED_USAGES;
  const known: readonly string[] = rule.usages;
  const usable = usableUsages(usages, request.publicKey.algorithm);
  const missing = missingPurposes(usable, known);
  if (missing.length > 0) return messages.noPurpose(known.filter(isPurpose), missing);
  const outside = usable.filter((usage) => !known.includes(usage));
  const allowed = known.length === 0 ? 'none' : known.join(', ');
  return outside.length === 0 ? undefined : messages.ruleUsagesNotAllowed(outside, allowed);
}
