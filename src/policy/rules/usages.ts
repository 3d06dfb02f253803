// SPDX-License-Identifier: Apache-2.0
import { REFUSED_USAGES } from '../../vocabulary.ts';
import type { RefusalRule } from '../refusal.ts';
import { shownList } from '../shown.ts';

/** `spec.usages` is what the leaf gets, so it must lie in the profile; what is never signed is certificate-signing.ts'. */
export const usages: RefusalRule = ({ csr, profile }) => {
  const asked = csr.spec.usages ?? [];
  const known: readonly string[] = [...profile.usages, ...REFUSED_USAGES];
  const outside = asked.filter((usage) => !known.includes(usage));
  if (outside.length === 0 && asked.length > 0) return undefined;
  const fault =
    asked.length === 0 ? 'spec.usages is empty' : `spec.usages has ${shownList(outside)}`;
  return {
    reason: 'UsageNotAllowed',
    message: `${fault}; this signer allows ${profile.usages.join(', ')}`,
  };
};
