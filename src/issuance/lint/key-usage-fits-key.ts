// SPDX-License-Identifier: Apache-2.0
import { UNUSABLE_BITS } from '../unusable-bits.ts';
import type { LintRule } from './rule.ts';

export const keyUsageFitsKey: LintRule = {
  name: 'key-usage-fits-key',
  source: 'RFC 3279 §2.3.1, RFC 5480 §3, RFC 9295 §3, RFC 9881 §5',
  check: ({ keyUsage, publicKey: { algorithm } }) => {
    const wrong = UNUSABLE_BITS[algorithm].filter((bit) => keyUsage?.has(bit) === true);
    return wrong.length === 0
      ? undefined
      : `${wrong.join(' and ')} cannot be done with an ${algorithm} key`;
  },
};
