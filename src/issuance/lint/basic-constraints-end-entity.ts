// SPDX-License-Identifier: Apache-2.0
import { OID_BASIC_CONSTRAINTS } from '../../pki/der/oids.ts';
import type { LintRule } from './rule.ts';

export const basicConstraintsEndEntity: LintRule = {
  name: 'basic-constraints-end-entity',
  source: 'RFC 5280 §4.2.1.9',
  check: (leaf) => {
    if (leaf.isCa) return 'the leaf is a CA';
    if (leaf.pathLen !== undefined) return 'the leaf has a path length';
    const found = leaf.extensions.find(({ oid }) => oid === OID_BASIC_CONSTRAINTS);
    return found?.critical === true ? undefined : 'critical basicConstraints are missing';
  },
};
