// SPDX-License-Identifier: Apache-2.0
import { REFUSED_USAGES } from '../../vocabulary.ts';
import type { ViolationRule } from './violation.ts';
import { quoteList } from '../quote.ts';

/** `spec.usages` is what the leaf gets, so it must lie in the profile; what is never signed is certificate-signing.ts'. */
export const usages: ViolationRule = ({ csr, profile }) => {
  const asked = csr.spec.usages ?? [];
  const known: readonly string[] = [...profile.usages, ...REFUSED_USAGES];
  const outside = asked.filter((usage) => !known.includes(usage));
  if (outside.length === 0 && asked.length > 0) return undefined;
  const fault =
    asked.length === 0 ? 'spec.usages is empty' : `spec.usages has ${quoteList(outside)}`;
  return {
    reason: 'UsageNotAllowed',
    message: `${fault}; this signer allows ${profile.usages.join(', ')}`,
  };
};

/** Usages that would make the leaf a CA's helper, or lift every limit, asked in either place. */
export const certificateSigning: ViolationRule = ({ csr, request }) => {
  const refused: readonly string[] = REFUSED_USAGES;
  const asked = (csr.spec.usages ?? []).filter((usage) => refused.includes(usage));
  const bits = (['keyCertSign', 'cRLSign'] as const).filter((bit) => request.keyUsage?.has(bit));
  const faults = [
    ...(asked.length === 0 ? [] : [`spec.usages has ${quoteList(asked)}`]),
    ...(bits.length === 0 ? [] : [`its keyUsage extension has ${bits.join(', ')}`]),
  ];
  if (faults.length === 0) return undefined;
  return {
    reason: 'ForbiddenUsage',
    message: `${faults.join(' and ')}: no leaf gets ${refused.join(', ')}`,
  };
};
