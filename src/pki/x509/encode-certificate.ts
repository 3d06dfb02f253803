// SPDX-License-Identifier: Apache-2.0
import { contextConstructed } from '../der/der-tags.ts';
import { bitString, element, integer, sequence, validityTime } from '../der/der-writer.ts';
import { encodeExtension, type Extension } from '../extensions/encode-extensions.ts';

export interface TbsFields {
  /** Big-endian and not negative: a set top bit gets a zero octet before it. */
  readonly serial: Uint8Array;
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  /** DER Name: the issuer's subject, byte for byte. */
  readonly issuer: Uint8Array;
  /** Milliseconds; fractions of a second are cut off. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** DER Name. */
  readonly subject: Uint8Array;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly extensions: readonly Extension[];
}

/** `[0] EXPLICIT INTEGER 2`: version 3 (RFC 5280 §4.1.2.1). */
const VERSION_3 = element(contextConstructed(0), integer(Uint8Array.of(2)));

/** The to-be-signed part of a version 3 certificate (RFC 5280 §4.1). */
export function encodeTbs(fields: TbsFields): Uint8Array {
  return sequence(
    VERSION_3,
    integer(fields.serial),
    fields.signatureAlgorithm,
    fields.issuer,
    sequence(validityTime(fields.notBefore), validityTime(fields.notAfter)),
    fields.subject,
    fields.spki,
    ...(fields.extensions.length === 0
      ? []
      : [element(contextConstructed(3), sequence(...fields.extensions.map(encodeExtension)))]),
  );
}

/** The algorithm must be the one inside the to-be-signed part. */
export function encodeCertificate(
  tbs: Uint8Array,
  algorithmDer: Uint8Array,
  signature: Uint8Array,
): Uint8Array {
  return sequence(tbs, algorithmDer, bitString(signature));
}
