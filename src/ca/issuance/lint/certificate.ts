// SPDX-License-Identifier: Apache-2.0
import type { LintRule } from './rule.ts';
import { sameBytes } from '#base/bytes.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '#pki/der/oids.ts';

/**
 * The limits of a serial number. RFC 5280 allows 20 octets, and 64 random bits are the least (CA/B
 * BR §7.1). This CA always uses 16 octets.
 */
const MAX_OCTETS = 19;
const MIN_OCTETS = 9;

export const serialPositive: LintRule = {
  name: 'serial-positive',
  source: 'RFC 5280 §4.1.2.2',
  check: ({ serial }) => {
    if (serial.length > MAX_OCTETS) return `the serial number has ${serial.length} octets`;
    if (serial.length < MIN_OCTETS) return 'the serial number has too few random bits';
    return ((serial[0] ?? 0x80) & 0x80) === 0 ? undefined : 'the serial number is negative';
  },
};

export const algorithmAgrees: LintRule = {
  name: 'algorithm-agrees',
  source: 'RFC 5280 §4.1.1.2',
  check: (leaf, issuer) =>
    sameBytes(leaf.signatureAlgorithm, issuer.signatureAlgorithm)
      ? undefined
      : 'the inner signature algorithm is not the one that the CA signs with',
};

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

/**
 * Requires whole seconds in order. The decoder checks UTCTime before 2050 and GeneralizedTime
 * after.
 */
export const wholeSeconds: LintRule = {
  name: 'whole-seconds',
  source: 'RFC 5280 §4.1.2.5',
  check: ({ notBefore, notAfter }) => {
    if (notBefore % 1000 !== 0 || notAfter % 1000 !== 0) return 'a time has a fraction of a second';
    return notBefore < notAfter ? undefined : 'notAfter is not later than notBefore';
  },
};

export const validityInsideIssuer: LintRule = {
  name: 'validity-inside-issuer',
  source: 'design: a leaf never outlives its CA',
  check: (leaf, issuer) => {
    if (leaf.notAfter > issuer.notAfter) return 'the leaf outlives its CA';
    return leaf.notBefore < issuer.notBefore ? 'the leaf begins before its CA' : undefined;
  },
};

const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
]);

/**
 * Allows only the extensions that leafExtensions() writes, each once and not empty. No CRL lists a
 * CA's certificate.
 */
export const knownExtensionsOnly: LintRule = {
  name: 'known-extensions-only',
  source: 'RFC 5280 §4.2',
  check: ({ extensions, isCa }) => {
    const seen = new Set<string>();
    for (const { oid, value } of extensions) {
      const isOfLeaf = oid === OID_CRL_DISTRIBUTION_POINTS && !isCa;
      if (!KNOWN_EXTENSIONS.has(oid) && !isOfLeaf) return `extension ${oid} is not allowed`;
      if (seen.has(oid)) return `extension ${oid} occurs twice`;
      if (value.length <= 2 && oid !== OID_BASIC_CONSTRAINTS) return `extension ${oid} is empty`;
      seen.add(oid);
    }
    return undefined;
  },
};

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
