// SPDX-License-Identifier: Apache-2.0
import type { Violation, ViolationInput, ViolationRule } from './violation.ts';
import { certificateAuthority, criticalExtensions } from './extensions.ts';
import { keyType, weakKey } from './keys.ts';
import {
  malformedName,
  nameKinds,
  noCopiedName,
  reservedSubject,
  userIdAttribute,
} from './names.ts';
import { certificateSigning, usages } from './usages.ts';

/** The gravest first: the first refusal gives the condition its reason. */
const RULES: readonly ViolationRule[] = [
  reservedSubject,
  userIdAttribute,
  certificateAuthority,
  certificateSigning,
  malformedName,
  nameKinds,
  criticalExtensions,
  keyType,
  weakKey,
  usages,
  noCopiedName,
];

/**
 * Every reason why a request can never become a leaf. No spec and no approval by hand lifts one:
 * where rules exist such a request is Denied, and where it was approved by hand it is Failed.
 * Empty: nothing stands against it, which is not yet a reason to approve.
 */
export function findViolations(input: ViolationInput): readonly Violation[] {
  return RULES.map((rule) => rule(input)).filter((found) => found !== undefined);
}
