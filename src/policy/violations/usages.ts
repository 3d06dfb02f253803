// SPDX-License-Identifier: Apache-2.0
import { REFUSED_USAGES } from '../../vocabulary.ts';
import { quoteList } from '../../quote.ts';
import type { ViolationRule } from './violation.ts';

/**
 * A leaf gets the usages of `spec.usages`, so each must be one of the profile's. certificateSigning
 * reports the ones that no profile can have.
 */
export const usages: ViolationRule = ({ csr, profile }) => {
  const requested = csr.spec.usages ?? [];
  const known: readonly string[] = [...profile.usages, ...REFUSED_USAGES];
  const outside = requested.filter((usage) => !known.includes(usage));
  if (outside.length === 0 && requested.length > 0) return undefined;
  const problem =
    requested.length === 0 ? 'spec.usages is empty' : `spec.usages contains ${quoteList(outside)}`;
  return {
    reason: 'UsageNotAllowed',
    message: `${problem}; this signer allows ${profile.usages.join(', ')}`,
  };
};

/** Usages that would let a leaf sign certificates or CRLs, or lift every limit, in the API or in PKCS#10. */
export const certificateSigning: ViolationRule = ({ csr, request }) => {
  const refused: readonly string[] = REFUSED_USAGES;
  const requested = (csr.spec.usages ?? []).filter((usage) => refused.includes(usage));
  const bits = (['keyCertSign', 'cRLSign'] as const).filter((bit) => request.keyUsage?.has(bit));
  const problems = [
    ...(requested.length === 0 ? [] : [`spec.usages contains ${quoteList(requested)}`]),
    ...(bits.length === 0 ? [] : [`the request's keyUsage extension contains ${bits.join(', ')}`]),
  ];
  if (problems.length === 0) return undefined;
  return {
    reason: 'ForbiddenUsage',
    message: `${problems.join(' and ')}; no signer issues leaf certificates with ${refused.join(', ')}`,
  };
};
