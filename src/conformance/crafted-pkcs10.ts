// SPDX-License-Identifier: Apache-2.0
/** Encodes PKCS#10 requests that no tool creates, to test what a signer copies. */
import type { KeyObject } from 'node:crypto';
import { contextConstructed } from '#pki/der/der-tags.ts';
import {
  bitString,
  element,
  integer,
  oid,
  sequence,
  setOf,
  utf8String,
} from '#pki/der/der-writer.ts';
import { encodeExtension, type Extension } from '#pki/extensions/encode-extensions.ts';
import {
  OID_COMMON_NAME,
  OID_EXTENSION_REQUEST,
  OID_ORGANIZATION,
  OID_SUBJECT_ALT_NAME,
} from '#pki/der/oids.ts';
import { publicKeyOf } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';

/**
 * An extension that no signer knows, in the arc that IANA reserves for documentation (RFC 5612).
 */
export const UNKNOWN_EXTENSION = '1.3.6.1.4.1.32473.1.1';

/** The attribute from which the API server reads a user's UID. */
const USER_UID = '1.3.6.1.4.1.57683.2';

/** A Microsoft user principal name. */
const USER_PRINCIPAL_NAME = '1.3.6.1.4.1.311.20.2.3';

/** The parts of a PKCS#10 request (RFC 2986 §4.1), valid for a signer or not. */
export interface CraftedRequest {
  /** Attribute types and values, one relative name each. */
  readonly subject: readonly (readonly [type: string, value: string])[];
  readonly extensions?: readonly Extension[];
  readonly key: KeyObject;
}

/** Returns a signed PKCS#10 request of these parts, as DER. */
export function encodeCraftedRequest({
  subject,
  extensions = [],
  key,
}: CraftedRequest): Uint8Array {
  const info = sequence(
    integer(Uint8Array.of(0)),
    sequence(...subject.map(([type, value]) => setOf(sequence(oid(type), utf8String(value))))),
    publicKeyOf(key),
    element(
      contextConstructed(0),
      ...(extensions.length === 0
        ? []
        : [
            sequence(
              oid(OID_EXTENSION_REQUEST),
              setOf(sequence(...extensions.map(encodeExtension))),
            ),
          ]),
    ),
  );
  const algorithm = signatureAlgorithm(key);
  return sequence(info, algorithm.der, bitString(algorithm.sign(info)));
}

/**
 * Returns the subject of a client: common name (none for ''), organizations, and additional
 * attributes.
 */
export function subjectOf(
  commonName: string,
  organizations: readonly string[] = [],
  more: CraftedRequest['subject'] = [],
): CraftedRequest['subject'] {
  return [
    ...organizations.map((name) => [OID_ORGANIZATION, name] as const),
    ...(commonName === '' ? [] : [[OID_COMMON_NAME, commonName] as const]),
    ...more,
  ];
}

/** Returns the subject attribute from which the API server reads a user's UID. */
export function userUid(value: string): readonly [string, string] {
  return [USER_UID, value];
}

/** Returns a common name to add after the first. */
export function secondCommonName(value: string): readonly [string, string] {
  return [OID_COMMON_NAME, value];
}

/**
 * Returns a subjectAltName with one otherName (RFC 5280 §4.2.1.6): a Microsoft user principal name.
 */
export function otherName(value: string): Extension {
  const name = element(
    contextConstructed(0),
    oid(USER_PRINCIPAL_NAME),
    element(contextConstructed(0), utf8String(value)),
  );
  return { oid: OID_SUBJECT_ALT_NAME, critical: false, value: sequence(name) };
}

/** Returns an extension of {@link UNKNOWN_EXTENSION} that is not critical. */
export function unknownExtension(): Extension {
  return { oid: UNKNOWN_EXTENSION, critical: false, value: utf8String('conformance') };
}
