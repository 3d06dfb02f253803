// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import type { TbsCertificate } from '../../pki/x509/certificate.ts';
import type { Issuer } from '../issuer.ts';
import { algorithmAgrees } from './algorithm-agrees.ts';
import { basicConstraintsEndEntity } from './basic-constraints-end-entity.ts';
import { certifiesLeavesOnly } from './certifies-leaves-only.ts';
import { issuerNameMatches } from './issuer-name-matches.ts';
import { keyIdentifiers } from './key-identifiers.ts';
import { keyUsageFitsKey } from './key-usage-fits-key.ts';
import { knownExtensionsOnly } from './known-extensions-only.ts';
import type { LintRule } from './rule.ts';
import { sanForEmptySubject } from './san-for-empty-subject.ts';
import { serialPositive } from './serial-positive.ts';
import { usagePresent } from './usage-present.ts';
import { validityInsideIssuer } from './validity-inside-issuer.ts';
import { wholeSeconds } from './whole-seconds.ts';

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
export const LINT_RULES: readonly LintRule[] = [
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
export function lint(leaf: TbsCertificate, issuer: Issuer, rules = LINT_RULES): void {
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
