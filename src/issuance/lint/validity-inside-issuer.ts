// SPDX-License-Identifier: Apache-2.0
import type { LintRule } from './rule.ts';

export const validityInsideIssuer: LintRule = {
  name: 'validity-inside-issuer',
  source: 'design: a leaf never outlives its CA',
  check: (leaf, issuer) => {
    if (leaf.notAfter > issuer.notAfter) return 'the leaf outlives its CA';
    return leaf.notBefore < issuer.notBefore ? 'the leaf begins before its CA' : undefined;
  },
};
