// SPDX-License-Identifier: Apache-2.0
import {
  decodeAuthorityKeyIdentifier,
  decodeBasicConstraints,
  decodeExtKeyUsage,
  decodeKeyUsage,
  decodeSubjectKeyIdentifier,
  saysSomething,
} from './extension-facts.ts';
import type { Extension } from './extensions.ts';
import {
  NO_ALTERNATIVE_NAMES,
  decodeAlternativeNames,
  type AlternativeNames,
} from '../names/general-names.ts';
import type { KeyUsageBit } from './key-usage-bits.ts';
import { decodeNameConstraints, type NameConstraints } from './name-constraints.ts';
import { MAY_BE_CRITICAL, checkShape } from './other-extensions.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../der/oids.ts';

/** What the extensions of a certificate or a request say. */
export interface ExtensionMeaning {
  readonly isCa: boolean;
  readonly pathLen: number | undefined;
  /** Undefined where there is no such extension: any usage. */
  readonly keyUsage: ReadonlySet<KeyUsageBit> | undefined;
  /** OIDs; undefined where there is no such extension: any purpose. */
  readonly extKeyUsage: readonly string[] | undefined;
  readonly subjectKeyIdentifier: Uint8Array | undefined;
  readonly authorityKeyIdentifier: Uint8Array | undefined;
  readonly sans: AlternativeNames;
  readonly nameConstraints: NameConstraints | undefined;
  /** OIDs of critical extensions that nobody here honours. */
  readonly unknownCritical: readonly string[];
}

/** Critical extensions that this package does what they say. */
const HONOURED: ReadonlySet<string> = new Set([
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
]);

/** @throws SignerError DER_MALFORMED, DER_LIMIT or NAME_INVALID */
export function interpretExtensions(extensions: readonly Extension[]): ExtensionMeaning {
  const values = new Map(extensions.map(({ oid, value }) => [oid, value]));
  const read = <T>(oid: string, decode: (value: Uint8Array) => T): T | undefined => {
    const value = values.get(oid);
    return value === undefined ? undefined : decode(value);
  };
  const constraints = read(OID_BASIC_CONSTRAINTS, decodeBasicConstraints);
  const sans = read(OID_SUBJECT_ALT_NAME, decodeAlternativeNames) ?? NO_ALTERNATIVE_NAMES;
  for (const extension of extensions) checkShape(extension);
  const unknownCritical = extensions
    .filter(({ oid, critical }) => critical && !isHonoured(oid, sans))
    .map(({ oid }) => oid);
  return {
    isCa: constraints?.isCa ?? false,
    pathLen: constraints?.pathLen,
    keyUsage: read(OID_KEY_USAGE, decodeKeyUsage),
    extKeyUsage: read(OID_EXT_KEY_USAGE, decodeExtKeyUsage),
    subjectKeyIdentifier: read(OID_SUBJECT_KEY_IDENTIFIER, decodeSubjectKeyIdentifier),
    authorityKeyIdentifier: read(OID_AUTHORITY_KEY_IDENTIFIER, decodeAuthorityKeyIdentifier),
    sans,
    nameConstraints: read(OID_NAME_CONSTRAINTS, decodeNameConstraints),
    unknownCritical,
  };
}

function isHonoured(oid: string, sans: AlternativeNames): boolean {
  if (oid === OID_SUBJECT_ALT_NAME) return saysSomething(sans);
  return HONOURED.has(oid) || MAY_BE_CRITICAL.has(oid);
}
