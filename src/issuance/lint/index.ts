// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import type { TbsCertificate } from '../../pki/x509/certificate.ts';
import type { SigningCa } from '../signing-ca.ts';
import {
  basicConstraintsEndEntity,
  keyUsageFitsKey,
  sanForEmptySubject,
  usagePresent,
} from './leaf.ts';
import { certifiesLeavesOnly } from './cross.ts';
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

/** For leaves and cross-certificates. */
const OF_EVERY_CERTIFICATE: readonly LintRule[] = [
  serialPositive,
  algorithmAgrees,
  issuerNameMatches,
  wholeSeconds,
  validityInsideIssuer,
  knownExtensionsOnly,
];

/** Every rule for a leaf, in the order of the certificate's fields. */
export const LEAF_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  basicConstraintsEndEntity,
  keyIdentifiers,
  usagePresent,
  keyUsageFitsKey,
  sanForEmptySubject,
];

/** Every rule for a cross-certificate. */
export const CROSS_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  certifiesLeavesOnly,
  keyIdentifiers,
];

/**
 * Lints a TBSCertificate before it is signed.
 *
 * @throws SignerError LINT_FAILED (`wait`) naming every broken rule: the fault is ours or the profile's, so
 * the request waits and does not fail
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
