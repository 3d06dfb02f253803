// SPDX-License-Identifier: Apache-2.0
/**
 * Texts of denials and of rules. The approver and certificate-request write them into a condition
 * and an Event, and the signer into a failure. A rule of `spec.requests.deny` denies with the
 * `message` of its author. `reasonsText` in review.ts joins the texts of several rules.
 */
import { quoteList } from '#base/quote.ts';
import { OID_BASIC_CONSTRAINTS, OID_KUBERNETES_USER_ID } from '#pki/der/oids.ts';

// Conditions: violations, for which no signer issues

export const CA_CERTIFICATE =
  'the request is for a CA certificate (basicConstraints with cA TRUE), and this signer issues leaf certificates only; remove the extension';

export function unknownCriticalExtensions(oids: readonly string[]): string {
  return `the request marks ${quoteList(oids)} critical, and this signer does not issue that extension; remove it from the request`;
}

export function keyTypeNotAccepted(key: string, keyTypes: readonly string[]): string {
  return `the key is ${key}; this signer accepts ${keyTypes.join(', ')}`;
}

export function keyOfSize(algorithm: string, bits: number): string {
  return `${algorithm} with ${bits} bits`;
}

export function reservedSubject(names: readonly string[], prefixes: string): string {
  return `the subject contains ${quoteList(names)}: names that begin with ${prefixes} are reserved and never signed`;
}

export const UID_ATTRIBUTE = `the subject contains the attribute ${OID_KUBERNETES_USER_ID}, which the API server reads as the user's UID; remove it from the request`;

export function unknownNameKinds(count: number): string {
  return `${count} of the subject alternative names are of an unsupported type; request only DNS names, IP addresses, URIs and email addresses`;
}

export function noIdentity(cause: string): string {
  return `the certificate would have neither a subject nor a subject alternative name: ${cause}`;
}

export function noCopies(fields: readonly string[]): string {
  return `this signer copies no names from requests${addFields(fields)}`;
}

export function noneOfCopies(copied: readonly string[], fields: readonly string[]): string {
  return `this signer copies ${copied.join(', ')} from a request, and this request has none of them${addFields(fields)}`;
}

/** @param fields - the fields that the request has and the signer does not copy */
function addFields(fields: readonly string[]): string {
  return `; add ${fields.join(', ')} to spec.requests.copy of the signer`;
}

export const NO_NAMES = 'the request contains no name; request one';

export function requestedUsages(usages: readonly string[]): string {
  return `spec.usages contains ${quoteList(usages)}`;
}

export function usagesNotAllowed(outside: readonly string[], allowed: readonly string[]): string {
  return `${requestedUsages(outside)}; this signer allows ${allowed.join(', ')}: request only these, or add the others to spec.profile.usages of the signer`;
}

export function noUsages(allowed: readonly string[]): string {
  return `spec.usages is empty; request some of ${allowed.join(', ')}`;
}

/**
 * @param allowed - purposes of the profile or the rule
 * @param missing - purposes of TLS that it lacks
 */
export function noPurpose(allowed: readonly string[], missing: readonly string[]): string {
  return `spec.usages has no purpose, so the certificate would be valid for every purpose, also ${missing.join(' and ')}: request ${allowed.join(' or ')} as well`;
}

export function uselessUsages(
  requested: readonly string[],
  algorithm: string,
  allowed: readonly string[],
): string {
  return `spec.usages contains only ${quoteList(requested)}, which ${/^[AEIOUR]/.test(algorithm) ? 'an' : 'a'} ${algorithm} key cannot have; request some of ${allowed.join(', ')}`;
}

export function keyUsageBits(bits: readonly string[]): string {
  return `the request's keyUsage extension contains ${bits.join(', ')}`;
}

export function forbiddenUsages(faults: readonly string[], refused: readonly string[]): string {
  return `${faults.join(' and ')}; no signer issues leaf certificates with ${refused.join(', ')}`;
}

// Conditions and Events: rules and what they do not allow

export const ALLOWS_ALL = 'allows the whole request';
export const NOT_APPLIED = 'does not apply: when is false';
export const NOT_DENIED = 'does not deny: when is false';

export function noExpression(field: string, values: readonly string[]): string {
  return `allow has no ${field} expression, and the request contains ${quoteList(values)}`;
}

export function valuesNotAllowed(field: string, values: readonly string[]): string {
  return `allow.${field} does not allow ${quoteList(values)}`;
}

export function partsNotAllowed(parts: readonly string[]): string {
  return `the request contains ${quoteList(parts)}, which no rule can allow`;
}

export function oidsNotAllowed(field: string, named: string, more: string): string {
  return `allow.${field} does not allow ${named}${more}: remove them from the request, or add them to the rule`;
}

export function moreOids(count: number): string {
  return ` and ${count} more`;
}

export const NO_REQUESTED_USAGES = 'the request has no usages';

export function ruleUsagesNotAllowed(usages: readonly string[], allowed: string): string {
  return `allow.usages does not allow ${quoteList(usages)} (allowed: ${allowed}): remove them from spec.usages, or add them to the rule`;
}

/** @param bits - with the usage of `spec.usages` that stands for each, as in `name (usage)` */
export function extraBits(oid: string, extension: string, bits: readonly string[]): string {
  return `${oid} (${extension}, with ${bits.join(', ')}, which spec.usages does not have)`;
}

export function bitOfUsage(bit: string, usage: string): string {
  return `${bit} ("${usage}")`;
}

export function namedOid(oid: string, name: string): string {
  return `${oid} (${name})`;
}

/**
 * Attributes and extensions that tools write into requests, by the names in their documentation.
 */
export const EXTENSION_NAMES: Readonly<Record<string, string>> = {
  [OID_BASIC_CONSTRAINTS]: 'basicConstraints with cA TRUE',
  '1.2.840.113549.1.9.2': 'unstructuredName',
  '1.2.840.113549.1.9.7': 'challengePassword',
  '1.2.840.113549.1.9.8': 'unstructuredAddress',
  '1.2.840.113549.1.9.15': 'smimeCapabilities',
  '1.3.6.1.5.5.7.1.24': 'TLS feature, must-staple',
  '1.3.6.1.4.1.311.2.1.14': 'Microsoft certificate extensions',
  '1.3.6.1.4.1.311.13.2.2': 'Microsoft enrollment CSP',
  '1.3.6.1.4.1.311.13.2.3': 'Microsoft OS version',
  '1.3.6.1.4.1.311.20.2': 'Microsoft certificate template',
  '1.3.6.1.4.1.311.21.7': 'Microsoft certificate template',
  '1.3.6.1.4.1.311.21.10': 'Microsoft application policies',
  '1.3.6.1.4.1.311.21.20': 'Microsoft client information',
  '1.3.6.1.4.1.311.25.2': 'Microsoft security identifier',
};

export function ruleBesides(rule: string, lacks: readonly string[]): string {
  return `besides, rule ${rule}: ${lacks.join('; ')}`;
}

/** @param removals - the fields of cert-manager's Certificate that have the attributes */
export function unsupportedSubject(
  attributes: readonly string[],
  removals: readonly string[],
): string {
  return `the subject contains ${listOf(attributes)}, which no leaf gets; remove ${listOf(removals)} from the Certificate`;
}

export function inLiteralSubject(attribute: string): string {
  return `${attribute} in spec.literalSubject`;
}

function listOf(texts: readonly string[]): string {
  const more = texts.length - MAX_SHOWN_ATTRIBUTES;
  const shown = texts.slice(0, MAX_SHOWN_ATTRIBUTES).join(', ');
  return more > 0 ? `${shown}${moreOids(more)}` : shown;
}

/** Limit on items of a list. It counts the rest. */
const MAX_SHOWN_ATTRIBUTES = 10;

// Approved by a person, although the signer fails it

export function wouldFail(message: string): string {
  return `if approved, it fails: ${message}`;
}

export function unreadableRequest(fault: string): string {
  return `spec.request: ${fault}`;
}
