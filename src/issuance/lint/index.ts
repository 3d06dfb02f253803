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

/** Of a leaf and of a cross-certificate alike. */
const OF_EVERY_CERTIFICATE: readonly LintRule[] = [
  serialPositive,
  algorithmAgrees,
  issuerNameMatches,
  wholeSeconds,
  validityInsideIssuer,
  knownExtensionsOnly,
];

/** Every rule, in the order of the certificate's fields. */
export const LEAF_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  basicConstraintsEndEntity,
  keyIdentifiers,
  usagePresent,
  keyUsageFitsKey,
  sanForEmptySubject,
];

/** What is held of a cross-certificate: all that is not about leaves alone. */
export const CROSS_RULES: readonly LintRule[] = [
  ...OF_EVERY_CERTIFICATE,
  certifiesLeavesOnly,
  keyIdentifiers,
];

/**
 * Reads the bytes that are about to be signed and refuses what RFC 5280 does.
 *
 * @throws SignerError LINT_FAILED (`wait`) naming every rule that is broken: the fault is ours or
 * the profile's, so the request waits and is never failed for it
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
    message: `refusing to sign a faulty certificate: ${broken.join('; ')}`,
  });
}
