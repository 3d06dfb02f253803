// SPDX-License-Identifier: Apache-2.0
import type { LintRule } from './rule.ts';

export const keyUsageFitsKey: LintRule = {
  name: 'key-usage-fits-key',
  source: 'RFC 5480 §3, RFC 8410 §5',
  check: ({ keyUsage, publicKey }) => {
    if (publicKey.algorithm === 'RSA' || keyUsage === undefined) return undefined;
    const wrong = (['keyEncipherment', 'dataEncipherment'] as const).filter((bit) =>
      keyUsage.has(bit),
    );
    return wrong.length === 0
      ? undefined
      : `${wrong.join(' and ')} cannot be done with an ${publicKey.algorithm} key`;
  },
};
