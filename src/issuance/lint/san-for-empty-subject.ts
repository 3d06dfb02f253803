// SPDX-License-Identifier: Apache-2.0
import { OID_SUBJECT_ALT_NAME } from '../../pki/der/oids.ts';
import type { LintRule } from './rule.ts';

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
