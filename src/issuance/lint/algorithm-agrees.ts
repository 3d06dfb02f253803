// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../../bytes.ts';
import type { LintRule } from './rule.ts';

export const algorithmAgrees: LintRule = {
  name: 'algorithm-agrees',
  source: 'RFC 5280 §4.1.1.2',
  check: (leaf, issuer) =>
    sameBytes(leaf.signatureAlgorithm, issuer.signatureAlgorithm)
      ? undefined
      : 'the inner signature algorithm is not the one that the CA signs with',
};
