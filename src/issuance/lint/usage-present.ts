// SPDX-License-Identifier: Apache-2.0
import { OID_KEY_USAGE } from '../../pki/der/oids.ts';
import type { LintRule } from './rule.ts';

const CA_ONLY = ['keyCertSign', 'cRLSign'] as const;

export const usagePresent: LintRule = {
  name: 'usage-present',
  source: 'RFC 5280 §4.2.1.3, §4.2.1.12',
  check: (leaf) => {
    const found = leaf.extensions.find(({ oid }) => oid === OID_KEY_USAGE);
    if (found !== undefined && !found.critical) return 'keyUsage is not critical';
    if (CA_ONLY.some((bit) => leaf.keyUsage?.has(bit) === true)) {
      return 'the leaf may sign certificates or CRLs';
    }
    const none = (leaf.keyUsage?.size ?? 0) === 0 && (leaf.extKeyUsage?.length ?? 0) === 0;
    return none ? 'the leaf may be used for nothing' : undefined;
  },
};
