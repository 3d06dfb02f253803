// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the rules that no spec and no approval can turn off, by subject: `names`, `extensions`,
 * `usages`, `keys`. In: a decoded request and the signer's profile. Out: every violation.
 */
import { certificateAuthority, criticalExtensions } from './extensions.ts';
import { keyType, weakKey } from './keys.ts';
import {
  malformedName,
  nameKinds,
  noCopiedName,
  reservedSubject,
  unsupportedSubject,
  userIdAttribute,
} from './names.ts';
import { certificateSigning, usages } from './usages.ts';
import type { Violation, ViolationInput, ViolationRule } from './violation.ts';

/** The most severe first. The first violation gives the condition its reason. */
const RULES: readonly ViolationRule[] = [
  reservedSubject,
  userIdAttribute,
  certificateAuthority,
  certificateSigning,
  malformedName,
  nameKinds,
  unsupportedSubject,
  criticalExtensions,
  keyType,
  weakKey,
  usages,
  noCopiedName,
];

/**
 * Runs every rule. A request with a violation is Denied if the signer has approval rules, and
 * Failed if a person approved it.
 *
 * @returns the violations, the most severe first. An empty list does not yet mean that the request
 *   is approved.
 */
export function findViolations(input: ViolationInput): readonly Violation[] {
  return RULES.map((rule) => rule(input)).filter((found) => found !== undefined);
}
