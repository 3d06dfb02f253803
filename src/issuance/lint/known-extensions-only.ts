// SPDX-License-Identifier: Apache-2.0
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../../pki/der/oids.ts';
import type { LintRule } from './rule.ts';

const KNOWN: ReadonlySet<string> = new Set([
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
]);

/** Nothing but what `leafExtensions` writes, each once and not empty. */
export const knownExtensionsOnly: LintRule = {
  name: 'known-extensions-only',
  source: 'RFC 5280 §4.2',
  check: ({ extensions }) => {
    const seen = new Set<string>();
    for (const { oid, value } of extensions) {
      if (!KNOWN.has(oid)) return `extension ${oid} has no place in a leaf`;
      if (seen.has(oid)) return `extension ${oid} occurs twice`;
      if (value.length <= 2 && oid !== OID_BASIC_CONSTRAINTS) return `extension ${oid} is empty`;
      seen.add(oid);
    }
    return undefined;
  },
};
