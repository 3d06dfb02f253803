// SPDX-License-Identifier: Apache-2.0
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
} from '#pki/der/oids.ts';
import type { TbsCertificate } from '#pki/x509/certificate.ts';
import { faultOfCaUsages } from './ca.ts';
import type { LintRule } from './rule.ts';

const CRITICAL = [OID_BASIC_CONSTRAINTS, OID_KEY_USAGE];
/** Extensions that would restrict every leaf below a CA: an extended key usage, or a name. */
const FOREIGN = [OID_EXT_KEY_USAGE, OID_SUBJECT_ALT_NAME];

/** Requires a CA that certifies leaves only, and nothing else. */
export const certifiesLeavesOnly: LintRule = {
  name: 'certifies-leaves-only',
  source: 'RFC 5280 §4.2.1.3, §4.2.1.9',
  check: (cross) => {
    if (!cross.isCa || cross.pathLen !== 0) return 'it is not a CA with path length 0';
    return faultOfCaUsages(cross) ?? faultOfExtensions(cross);
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
