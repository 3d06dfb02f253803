// SPDX-License-Identifier: Apache-2.0
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '#pki/der/oids.ts';
import type { TbsCertificate } from '#pki/x509/certificate.ts';
import type { LintRule } from './rule.ts';

/** Allowed extensions, and whether each is critical. */
export type ExtensionTable = ReadonlyMap<string, boolean>;

/** Extensions of a CA's certificate, and whether each is critical. */
const CRITICAL: ExtensionTable = new Map([
  [OID_KEY_USAGE, true],
  [OID_BASIC_CONSTRAINTS, true],
  [OID_NAME_CONSTRAINTS, true],
  [OID_SUBJECT_KEY_IDENTIFIER, false],
  [OID_AUTHORITY_KEY_IDENTIFIER, false],
  [OID_CRL_DISTRIBUTION_POINTS, false],
]);

const BITS = ['keyCertSign', 'cRLSign'] as const;

/** Returns why the key usages are not those of a CA, and undefined if they are. */
export function faultOfCaUsages({ keyUsage: bits }: TbsCertificate): string | undefined {
  return bits?.size === BITS.length && BITS.every((bit) => bits.has(bit))
    ? undefined
    : 'its key usages are not keyCertSign and cRLSign';
}

/** Requires a CA with a path length, whose key signs certificates and CRLs only. */
export const caWithPathLength: LintRule = {
  name: 'ca-with-path-length',
  source: 'RFC 5280 §4.2.1.3, §4.2.1.9',
  check: (ca) => {
    if (!ca.isCa) return 'it is not a CA';
    if (ca.pathLen === undefined) return 'it has no path length';
    if (ca.subject.attributes.length === 0) return 'the subject is empty';
    return faultOfCaUsages(ca);
  },
};

/** Allows only the extensions that encodeCaTbs() writes, each once. */
export const caExtensionsOnly: LintRule = {
  name: 'ca-extensions-only',
  source: 'RFC 5280 §4.2',
  check: ({ extensions }) => extensionsFault(extensions, CRITICAL),
};

/** Returns the first extension that the table does not allow, or allows otherwise. */
export function extensionsFault(
  extensions: TbsCertificate['extensions'],
  allowed: ExtensionTable,
): string | undefined {
  const seen = new Set<string>();
  for (const { oid, critical } of extensions) {
    const expected = allowed.get(oid);
    if (expected === undefined) return `extension ${oid} is not allowed in a CA`;
    if (expected !== critical) return `extension ${oid} is ${critical ? '' : 'not '}critical`;
    if (seen.has(oid)) return `extension ${oid} occurs twice`;
    seen.add(oid);
  }
  return undefined;
}

/** Requires constraints that every verifier compares: Go rejects a CA with others. */
export const comparableConstraints: LintRule = {
  name: 'comparable-constraints',
  source: 'RFC 5280 §4.2.1.10',
  check: ({ nameConstraints }) =>
    nameConstraints?.hasOther === true
      ? 'it has name constraints of kinds that verifiers do not compare'
      : undefined,
};
