// SPDX-License-Identifier: Apache-2.0
import { REFUSED_USAGES } from '../../vocabulary.ts';
import type { RefusalRule } from '../refusal.ts';
import { shownList } from '../shown.ts';

/** Usages that would make the leaf a CA's helper, or lift every limit, asked in either place. */
export const certificateSigning: RefusalRule = ({ csr, request }) => {
  const refused: readonly string[] = REFUSED_USAGES;
  const asked = (csr.spec.usages ?? []).filter((usage) => refused.includes(usage));
  const bits = (['keyCertSign', 'cRLSign'] as const).filter((bit) => request.keyUsage?.has(bit));
  const faults = [
    ...(asked.length === 0 ? [] : [`spec.usages has ${shownList(asked)}`]),
    ...(bits.length === 0 ? [] : [`its keyUsage extension has ${bits.join(', ')}`]),
  ];
  if (faults.length === 0) return undefined;
  return {
    reason: 'ForbiddenUsage',
    message: `${faults.join(' and ')}: no leaf gets ${refused.join(', ')}`,
  };
};
