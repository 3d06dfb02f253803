// SPDX-License-Identifier: Apache-2.0
import { OID_BASIC_CONSTRAINTS, OID_KEY_USAGE, OID_SUBJECT_ALT_NAME } from '#pki/der/oids.ts';
import type { LintRule } from './rule.ts';
import { UNUSABLE_BITS } from '#pki/extensions/usages.ts';

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

export const sanForEmptySubject: LintRule = {
  name: 'san-for-empty-subject',
  source: 'RFC 5280 §4.1.2.6, §4.2.1.6',
  check: ({ subject, extensions }) => {
    const found = extensions.find(({ oid }) => oid === OID_SUBJECT_ALT_NAME);
    if (subject.attributes.length > 0) return undefined;
    if (found === undefined) return 'neither a subject nor a subject alternative name';
    return found.critical
      ? undefined
      : 'the subject is empty and the alternative name not critical';
  },
};
