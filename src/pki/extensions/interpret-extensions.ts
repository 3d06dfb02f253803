// SPDX-License-Identifier: Apache-2.0
import {
  decodeAuthorityKeyIdentifier,
  decodeBasicConstraints,
  decodeExtKeyUsage,
  decodeKeyUsage,
  decodeSubjectKeyIdentifier,
  hasMatchableNames,
} from './parse-extensions.ts';
import type { Extension } from './encode-extensions.ts';
import {
  NO_SUBJECT_ALT_NAMES,
  decodeSubjectAltNames,
  type DecodedSubjectAltNames,
} from '../names/general-names.ts';
import { decodeNameConstraints, type NameConstraints } from './name-constraints.ts';
import {
  IGNORABLE_WHEN_CRITICAL,
  checkUnused,
  requiresExplicitPolicy,
} from './unused-extensions.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_POLICY_CONSTRAINTS,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../der/oids.ts';
import type { KeyUsageBit } from './usages.ts';

/** The decoded extensions of a certificate or a request. */
export interface InterpretedExtensions {
  /** cA of basicConstraints, or false without that extension. */
  readonly isCa: boolean;
  /** The number of CAs that may follow below. Undefined for any number. */
  readonly pathLen: number | undefined;
  /** Undefined without that extension, which means every usage. */
  readonly keyUsage: ReadonlySet<KeyUsageBit> | undefined;
  /** OIDs of purposes. Undefined without that extension, which means every purpose. */
  readonly extKeyUsage: readonly string[] | undefined;
  readonly subjectKeyIdentifier: Uint8Array | undefined;
  readonly authorityKeyIdentifier: Uint8Array | undefined;
  readonly sans: DecodedSubjectAltNames;
  readonly nameConstraints: NameConstraints | undefined;
  /**
   * OIDs of critical extensions that are not processed. A path with one is invalid (RFC 5280 §4.2).
   */
  readonly unhandledCritical: readonly string[];
  /** True if a path with it needs certificate policies, which this project does not process. */
  readonly requiresPolicy: boolean;
}

/** Extensions that are processed as RFC 5280 requires. */
const PROCESSED: ReadonlySet<string> = new Set([
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
]);

/**
 * Decodes the extensions of a certificate or a request, and checks unused ones.
 *
 * @throws SignerError DER_MALFORMED, DER_LIMIT or NAME_INVALID
 */
export function interpretExtensions(extensions: readonly Extension[]): InterpretedExtensions {
  const values = new Map(extensions.map(({ oid, value }) => [oid, value]));
  const read = <T>(oid: string, decode: (value: Uint8Array) => T): T | undefined => {
    const value = values.get(oid);
    return value === undefined ? undefined : decode(value);
  };
  const constraints = read(OID_BASIC_CONSTRAINTS, decodeBasicConstraints);
  const sans = read(OID_SUBJECT_ALT_NAME, decodeSubjectAltNames) ?? NO_SUBJECT_ALT_NAMES;
  for (const extension of extensions) checkUnused(extension);
  const unknownCritical = extensions
    .filter(({ oid, critical }) => critical && !isHandled(oid, sans))
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
    unhandledCritical: unknownCritical,
    requiresPolicy: read(OID_POLICY_CONSTRAINTS, requiresExplicitPolicy) ?? false,
  };
}

function isHandled(oid: string, sans: DecodedSubjectAltNames): boolean {
  if (oid === OID_SUBJECT_ALT_NAME) return hasMatchableNames(sans);
  return PROCESSED.has(oid) || IGNORABLE_WHEN_CRITICAL.has(oid);
}
