// SPDX-License-Identifier: Apache-2.0
import { DerReader, readWhole } from '../der/der-reader.ts';
import {
  TAG_INTEGER,
  TAG_OID,
  TAG_SEQUENCE,
  contextConstructed,
  contextPrimitive,
} from '../der/der-tags.ts';
import { oidOf, smallInteger } from '../der/der-values.ts';
import type { Extension } from './encode-extensions.ts';
import {
  OID_AUTHORITY_INFORMATION_ACCESS,
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_CERTIFICATE_POLICIES,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_INHIBIT_ANY_POLICY,
  OID_POLICY_CONSTRAINTS,
  OID_POLICY_MAPPINGS,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../der/oids.ts';
import { malformed } from '../der/input-error.ts';

/**
 * The limit of one value in bytes. The certificate or request around it has a lower limit of its
 * own.
 */
const MAX_UNUSED_EXTENSION_BYTES = 256 * 1024;

/** The limit of SkipCerts, which counts certificates of a path. No path has so many. */
const MAX_SKIP = 0x7fffffff;

/**
 * Extensions that RFC 5280 §4.2.1.1, §4.2.1.2 and §4.2.2.1 forbid to be critical. Go rejects
 * certificates with a critical one.
 */
const NEVER_CRITICAL: ReadonlySet<string> = new Set([
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_SUBJECT_KEY_IDENTIFIER,
  OID_AUTHORITY_INFORMATION_ACCESS,
]);

/**
 * OIDs of extensions that may be critical although they are not processed. If any policy is
 * acceptable and none is required, RFC 5280 §6.1 never fails on the three of policies.
 * policyConstraints is missing because it can require a policy. Distribution points matter only for
 * revocation checks.
 */
export const IGNORABLE_WHEN_CRITICAL: ReadonlySet<string> = new Set([
  OID_CERTIFICATE_POLICIES,
  OID_POLICY_MAPPINGS,
  OID_INHIBIT_ANY_POLICY,
  OID_CRL_DISTRIBUTION_POINTS,
]);

/**
 * Syntax checks of unused extensions. Go makes these checks when it parses, so a leaf must pass
 * here, too.
 */
const SYNTAX_CHECKS: ReadonlyMap<string, (value: Uint8Array) => void> = new Map([
  [OID_CERTIFICATE_POLICIES, checkPolicies],
  [OID_POLICY_MAPPINGS, checkMappings],
  [OID_INHIBIT_ANY_POLICY, checkInhibitAnyPolicy],
  [OID_POLICY_CONSTRAINTS, checkPolicyConstraints],
  [OID_CRL_DISTRIBUTION_POINTS, checkDistributionPoints],
  [OID_AUTHORITY_INFORMATION_ACCESS, checkInformationAccess],
]);

/**
 * Checks an unused extension: its syntax, and that it is not critical if RFC 5280 §4.2 forbids
 * that. Other extensions pass.
 *
 * @throws SignerError DER_MALFORMED or DER_LIMIT
 */
export function checkUnused({ oid, critical, value }: Extension): void {
  if (critical && NEVER_CRITICAL.has(oid)) {
    throw malformed(`extension ${oid} is critical, which RFC 5280 §4.2 forbids`);
  }
  SYNTAX_CHECKS.get(oid)?.(value);
}

/** Checks every member of a SEQUENCE OF SEQUENCE, which must not be empty. */
function eachMember(value: Uint8Array, what: string, check: (fields: DerReader) => void): void {
  const list = readWhole(value, what, MAX_UNUSED_EXTENSION_BYTES);
  if (list.isDone()) throw list.malformed(`${what} is empty`);
  while (!list.isDone()) {
    const fields = list.sequence(what);
    check(fields);
    fields.finish();
  }
}

function checkPolicies(value: Uint8Array): void {
  const seen = new Set<string>();
  eachMember(value, 'certificatePolicies', (fields) => {
    const policy = oidOf(fields.read(TAG_OID, 'a policy'), 'a policy');
    if (fields.at(TAG_SEQUENCE)) fields.raw('the qualifiers of a policy');
    if (seen.has(policy)) throw malformed(`policy ${policy} occurs twice`);
    seen.add(policy);
  });
}

function checkMappings(value: Uint8Array): void {
  eachMember(value, 'policyMappings', (fields) => {
    oidOf(fields.read(TAG_OID, 'a policy'), 'a policy');
    oidOf(fields.read(TAG_OID, 'a policy'), 'a policy');
  });
}

function checkInhibitAnyPolicy(value: Uint8Array): void {
  const outer = new DerReader(value, 'inhibitAnyPolicy');
  smallInteger(outer.read(TAG_INTEGER, 'inhibitAnyPolicy'), 'inhibitAnyPolicy', MAX_SKIP);
  outer.finish();
}

function checkPolicyConstraints(value: Uint8Array): void {
  const fields = readWhole(value, 'policyConstraints', MAX_UNUSED_EXTENSION_BYTES);
  for (const tag of [contextPrimitive(0), contextPrimitive(1)]) {
    if (!fields.at(tag)) continue;
    smallInteger(fields.read(tag, 'policyConstraints'), 'policyConstraints', MAX_SKIP);
  }
  fields.finish();
}

function checkDistributionPoints(value: Uint8Array): void {
  eachMember(value, 'cRLDistributionPoints', (fields) => {
    if (fields.at(contextConstructed(0))) {
      // A CHOICE, so explicitly tagged. Go accepts fullName only.
      const name = fields.enter(contextConstructed(0), 'a distribution point');
      const names = name.enter(contextConstructed(0), 'the name of a distribution point');
      while (!names.isDone()) names.raw('a name of a distribution point');
      name.finish();
    }
    if (fields.at(contextPrimitive(1))) fields.raw('the reasons of a distribution point');
    if (fields.at(contextConstructed(2))) fields.raw('the issuer of a distribution point');
  });
}

function checkInformationAccess(value: Uint8Array): void {
  eachMember(value, 'authorityInfoAccess', (fields) => {
    oidOf(fields.read(TAG_OID, 'an access method'), 'an access method');
    fields.raw('an access location');
  });
}

/**
 * Reports whether policyConstraints have requireExplicitPolicy. A path below then needs a policy in
 * each certificate (RFC 5280 §6.1), and Go looks for one even if the extension is not critical.
 */
export function requiresExplicitPolicy(value: Uint8Array): boolean {
  return readWhole(value, 'policyConstraints', MAX_UNUSED_EXTENSION_BYTES).at(contextPrimitive(0));
}
