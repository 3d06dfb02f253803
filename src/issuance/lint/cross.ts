// SPDX-License-Identifier: Apache-2.0
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
} from '../../pki/der/oids.ts';
import type { TbsCertificate } from '../../pki/x509/certificate.ts';
import type { LintRule } from './rule.ts';

const CRITICAL = [OID_BASIC_CONSTRAINTS, OID_KEY_USAGE];
/** An extended key usage or a name in a CA certificate would restrict every leaf below it. */
const FOREIGN = [OID_EXT_KEY_USAGE, OID_SUBJECT_ALT_NAME];
const BITS = ['keyCertSign', 'cRLSign'] as const;

/** A cross-certificate is a CA that certifies leaves only, and nothing else. */
export const certifiesLeavesOnly: LintRule = {
  name: 'certifies-leaves-only',
  source: 'RFC 5280 §4.2.1.3, §4.2.1.9',
  check: (cross) => {
    if (!cross.isCa || cross.pathLen !== 0) return 'it is not a CA with path length 0';
    const bits = cross.keyUsage ?? new Set();
    if (bits.size !== BITS.length || !BITS.every((bit) => bits.has(bit))) {
      return 'its key usages are not keyCertSign and cRLSign';
    }
    return faultOfExtensions(cross);
  },
};

function faultOfExtensions({ extensions }: TbsCertificate): string | undefined {
  const loose = extensions.find(({ oid, critical }) => CRITICAL.includes(oid) && !critical);
  if (loose !== undefined) return `extension ${loose.oid} is not critical`;
  const foreign = extensions.find(({ oid }) => FOREIGN.includes(oid));
  return foreign === undefined
    ? undefined
    : `extension ${foreign.oid} is not allowed in a cross-certificate`;
}
