// SPDX-License-Identifier: Apache-2.0
import type { Refusal, RefusalInput, RefusalRule } from './refusal.ts';
import { certificateAuthority } from './rules/certificate-authority.ts';
import { certificateSigning } from './rules/certificate-signing.ts';
import { criticalExtensions } from './rules/critical-extensions.ts';
import { keyType } from './rules/key-type.ts';
import { malformedName } from './rules/malformed-name.ts';
import { nameKinds } from './rules/name-kinds.ts';
import { namesNobody } from './rules/names-nobody.ts';
import { reservedSubject } from './rules/reserved-subject.ts';
import { usages } from './rules/usages.ts';
import { userIdAttribute } from './rules/user-id-attribute.ts';
import { weakKey } from './rules/weak-key.ts';

/** The gravest first: the first refusal gives the condition its reason. */
const RULES: readonly RefusalRule[] = [
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
  namesNobody,
];

/**
 * Every reason why a request can never become a leaf. No spec and no approval by hand lifts one:
 * where rules exist such a request is Denied, and where it was approved by hand it is Failed.
 * Empty: nothing stands against it, which is not yet a reason to approve.
 */
export function refusals(input: RefusalInput): readonly Refusal[] {
  return RULES.map((rule) => rule(input)).filter((found) => found !== undefined);
}
