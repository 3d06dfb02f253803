// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { TbsCertificate } from '#pki/x509/certificate.ts';
import type { SigningCa } from '../signing-ca.ts';
import {
  basicConstraintsEndEntity,
  keyUsageFitsKey,
  sanForEmptySubject,
  usagePresent,
} from './leaf.ts';
import { caExtensionsOnly, caWithPathLength, comparableConstraints } from './ca.ts';
import { certifiesLeavesOnly } from './cross.ts';
import {
  intermediateCa,
  intermediateExtensionsOnly,
  intermediateSubject,
  oneTrustDomain,
  sixthOfIssuer,
} from './intermediate.ts';
import type { LintRule } from './rule.ts';
import {
  algorithmAgrees,
  issuerNameMatches,
  keyIdentifiers,
  knownExtensionsOnly,
  serialPositive,
  validityInsideIssuer,
  wholeSeconds,
} from './certificate.ts';

/** The rules for all that a CA signs. */
const OF_EVERY_CERTIFICATE: readonly LintRule[] = [
  serialPositive,
  algorithmAgrees,
  issuerNameMatches,
  wholeSeconds,
  validityInsideIssuer,
];

/** Every rule for a leaf, in the order of the certificate's fields. */
export const LEAF_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  knownExtensionsOnly,
  basicConstraintsEndEntity,
  keyIdentifiers,
  usagePresent,
  keyUsageFitsKey,
  sanForEmptySubject,
];

/** Every rule for a cross-certificate. */
export const CROSS_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  knownExtensionsOnly,
  certifiesLeavesOnly,
  keyIdentifiers,
];

/** Every rule for a CA that a person plans: a root, an intermediate, or another CA's key. */
export const CA_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  caExtensionsOnly,
  caWithPathLength,
  comparableConstraints,
  keyIdentifiers,
];

/** Every rule for the CA of another cluster. */
export const INTERMEDIATE_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  sixthOfIssuer,
  intermediateExtensionsOnly,
  intermediateCa,
  intermediateSubject,
  oneTrustDomain,
  comparableConstraints,
  keyIdentifiers,
];

/**
 * Lints a TBSCertificate before it is signed.
 *
 * @throws SignerError LINT_FAILED (`wait`) with every broken rule. The fault is in this code or in
 *   the profile, so the request waits and does not fail.
 */
export function lint(leaf: TbsCertificate, issuer: SigningCa, rules: readonly LintRule[]): void {
  const broken: string[] = [];
  for (const rule of rules) {
    const finding = rule.check(leaf, issuer);
    if (finding !== undefined) broken.push(`${rule.name} (${rule.source}): ${finding}`);
  }
  if (broken.length === 0) return;
  throw new SignerError({
    code: 'LINT_FAILED',
    disposition: 'wait',
    message: `not signed, because the certificate would break a rule: ${broken.join('; ')}`,
  });
}
