// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../../bytes.ts';
import type { LintRule } from './rule.ts';

export const keyIdentifiers: LintRule = {
  name: 'key-identifiers',
  source: 'RFC 5280 §4.2.1.1, §4.2.1.2',
  check: (leaf, issuer) => {
    const { authorityKeyIdentifier: aki, subjectKeyIdentifier: ski } = leaf;
    if (ski === undefined || ski.length === 0) return 'the subject key identifier is missing';
    if (aki === undefined) return 'the authority key identifier is missing';
    return sameBytes(aki, issuer.keyIdentifier)
      ? undefined
      : 'the authority key identifier is not the CA’s subject key identifier';
  },
};
