// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../../bytes.ts';
import type { LintRule } from './rule.ts';

export const issuerNameMatches: LintRule = {
  name: 'issuer-name-matches',
  source: 'RFC 5280 §4.1.2.4',
  check: (leaf, issuer) => {
    if (leaf.issuer.attributes.length === 0) return 'the issuer name is empty';
    return sameBytes(leaf.issuer.raw, issuer.subject)
      ? undefined
      : 'the issuer name is not the CA’s subject byte for byte';
  },
};
