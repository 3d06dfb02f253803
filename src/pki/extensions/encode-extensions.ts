// SPDX-License-Identifier: Apache-2.0
import { contextPrimitive } from '../der/der-tags.ts';
import {
  boolean,
  element,
  integer,
  namedBitString,
  octetString,
  oid,
  sequence,
} from '../der/der-writer.ts';
import { encodeSubjectAltNames, type SubjectAltNames } from '../names/general-names.ts';
import { keyIdentifier } from '../keys/public-key.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../der/oids.ts';
import { KEY_USAGE_BITS, type KeyUsageBit } from './usages.ts';

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  /** Contents of the extnValue OCTET STRING. */
  readonly value: Uint8Array;
}

/** Critical (RFC 5280 §4.2.1.3). */
export function keyUsage(bits: readonly KeyUsageBit[]): Extension {
  const value = namedBitString(bits.map((bit) => KEY_USAGE_BITS.indexOf(bit)));
  return { oid: OID_KEY_USAGE, critical: true, value };
}

export function extKeyUsage(oids: readonly string[]): Extension {
  return { oid: OID_EXT_KEY_USAGE, critical: false, value: sequence(...oids.map(oid)) };
}

/** Critical (RFC 5280 §4.2.1.9). CA:FALSE is the default and so not written (X.690 §11.5). */
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

export function subjectKeyIdentifier(spki: Uint8Array): Extension {
  const value = octetString(keyIdentifier(spki));
  return { oid: OID_SUBJECT_KEY_IDENTIFIER, critical: false, value };
}

/** Only the key identifier: issuer and serial would bind the leaf to one CA certificate. */
export function authorityKeyIdentifier(keyId: Uint8Array): Extension {
  const value = sequence(element(contextPrimitive(0), keyId));
  return { oid: OID_AUTHORITY_KEY_IDENTIFIER, critical: false, value };
}

export function subjectAltName(sans: SubjectAltNames, critical: boolean): Extension {
  return { oid: OID_SUBJECT_ALT_NAME, critical, value: encodeSubjectAltNames(sans) };
}

/** One Extension in DER; critical is written only where it is not the default. */
export function encodeExtension({ oid: type, critical, value }: Extension): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value));
}
