// SPDX-License-Identifier: Apache-2.0
import { contextConstructed, contextPrimitive } from '../der/der-tags.ts';
import {
  boolean,
  element,
  integer,
  namedBitString,
  octetString,
  oid,
  sequence,
} from '../der/der-writer.ts';
import type { NameConstraint } from '../names/constraint-match.ts';
import { encodeSubjectAltNames, type SubjectAltNames } from '../names/general-names.ts';
import { keyIdentifier } from '../keys/public-key.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../der/oids.ts';
import { KEY_USAGE_BITS, type KeyUsageBit } from './usages.ts';

/** One Extension (RFC 5280 §4.1, §4.2). */
export interface Extension {
  /** extnID, as dotted decimal text. */
  readonly oid: string;
  readonly critical: boolean;
  /** Contents of the extnValue OCTET STRING. */
  readonly value: Uint8Array;
}

/**
 * Returns a critical keyUsage extension (RFC 5280 §4.2.1.3).
 *
 * @param bits - at least one, in any order
 */
export function keyUsage(bits: readonly KeyUsageBit[]): Extension {
  const value = namedBitString(bits.map((bit) => KEY_USAGE_BITS.indexOf(bit)));
  return { oid: OID_KEY_USAGE, critical: true, value };
}

/**
 * Returns an extKeyUsage extension, not critical (RFC 5280 §4.2.1.12).
 *
 * @param oids - at least one purpose, as dotted decimal text
 */
export function extKeyUsage(oids: readonly string[]): Extension {
  return { oid: OID_EXT_KEY_USAGE, critical: false, value: sequence(...oids.map(oid)) };
}

/**
 * Returns a critical basicConstraints extension (RFC 5280 §4.2.1.9). DER omits `ca: false`, which
 * is the default (X.690 §11.5).
 *
 * @param facts - `pathLen`, 0 to 255, only with `ca: true`
 */
export function basicConstraints(facts: {
  readonly ca: boolean;
  readonly pathLen?: number;
}): Extension {
  const { ca, pathLen } = facts;
  const value = sequence(
    ...(ca ? [boolean(true)] : []),
    ...(pathLen === undefined ? [] : [integer(Uint8Array.of(pathLen))]),
  );
  return { oid: OID_BASIC_CONSTRAINTS, critical: true, value };
}

/**
 * Returns a subjectKeyIdentifier extension: the SHA-1 of the key (RFC 5280 §4.2.1.2).
 *
 * @param spki - DER SubjectPublicKeyInfo of the subject
 */
export function subjectKeyIdentifier(spki: Uint8Array): Extension {
  return subjectKeyIdentifierOf(keyIdentifier(spki));
}

/**
 * Returns a subjectKeyIdentifier extension with an identifier that another CA chose, which its
 * leaves refer to.
 */
export function subjectKeyIdentifierOf(keyId: Uint8Array): Extension {
  return { oid: OID_SUBJECT_KEY_IDENTIFIER, critical: false, value: octetString(keyId) };
}

/** Tags of the bases that {@link nameConstraints} encodes (RFC 5280 §4.2.1.6). */
const BASES = { email: 1, dns: 2, uri: 6, ip: 7 } as const;

/**
 * Returns a critical nameConstraints extension (RFC 5280 §4.2.1.10).
 *
 * @param subtrees - at least one in one of the lists. Texts are ASCII.
 */
export function nameConstraints(subtrees: {
  readonly permitted: readonly NameConstraint[];
  readonly excluded: readonly NameConstraint[];
}): Extension {
  const list = (number: number, all: readonly NameConstraint[]): readonly Uint8Array[] =>
    all.length === 0 ? [] : [element(contextConstructed(number), ...all.map(subtree))];
  const value = sequence(...list(0, subtrees.permitted), ...list(1, subtrees.excluded));
  return { oid: OID_NAME_CONSTRAINTS, critical: true, value };
}

/** Encodes a GeneralSubtree. Its minimum is the default, and it has no maximum. */
function subtree(constraint: NameConstraint): Uint8Array {
  const base = constraint.kind === 'ip' ? constraint.range : Buffer.from(constraint.text, 'latin1');
  return sequence(element(contextPrimitive(BASES[constraint.kind]), base));
}

/**
 * Returns an authorityKeyIdentifier extension (RFC 5280 §4.2.1.1) with the key identifier alone.
 * Issuer and serial would bind the leaf to one of the CA's certificates.
 *
 * @param keyId - the subjectKeyIdentifier of the issuer
 */
export function authorityKeyIdentifier(keyId: Uint8Array): Extension {
  const value = sequence(element(contextPrimitive(0), keyId));
  return { oid: OID_AUTHORITY_KEY_IDENTIFIER, critical: false, value };
}

/**
 * Returns a subjectAltName extension (RFC 5280 §4.2.1.6).
 *
 * @param critical - true if the subject is empty
 * @throws SignerError NAME_INVALID as encodeSubjectAltNames
 */
export function subjectAltName(sans: SubjectAltNames, critical: boolean): Extension {
  return { oid: OID_SUBJECT_ALT_NAME, critical, value: encodeSubjectAltNames(sans) };
}

/**
 * Returns a cRLDistributionPoints extension, not critical (RFC 5280 §4.2.1.13): one point, whose
 * names are other places of the same CRL.
 *
 * @param urls - at least one, in ASCII
 */
export function crlDistributionPoints(urls: readonly string[]): Extension {
  const names = urls.map((url) => element(contextPrimitive(6), Buffer.from(url, 'latin1')));
  const fullName = element(contextConstructed(0), ...names);
  const point = sequence(element(contextConstructed(0), fullName));
  return { oid: OID_CRL_DISTRIBUTION_POINTS, critical: false, value: sequence(point) };
}

/**
 * Encodes one Extension (RFC 5280 §4.1). DER contains `critical` only if it is true (X.690 §11.5).
 */
export function encodeExtension({ oid: type, critical, value }: Extension): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value));
}
