// SPDX-License-Identifier: Apache-2.0
import { contextConstructed } from '../der/der-tags.ts';
import { bitString, element, integer, sequence, validityTime } from '../der/der-writer.ts';
import { encodeExtension, type Extension } from '../extensions/encode-extensions.ts';

/** The fields of a TBSCertificate. Those in DER are already encoded. */
export interface TbsFields {
  /**
   * The unsigned number, big-endian. If the top bit is set, the encoding puts a zero octet before
   * it.
   */
  readonly serial: Uint8Array;
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  /** DER Name: the issuer's subject, byte for byte. */
  readonly issuer: Uint8Array;
  /** Milliseconds since 1970. Fractions of a second are dropped. */
  readonly notBefore: number;
  /** Milliseconds since 1970. Fractions of a second are dropped. */
  readonly notAfter: number;
  /** DER Name. */
  readonly subject: Uint8Array;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly extensions: readonly Extension[];
}

/** `[0] EXPLICIT INTEGER 2`: version 3 (RFC 5280 §4.1.2.1). */
const VERSION_3 = element(contextConstructed(0), integer(Uint8Array.of(2)));

/**
 * Encodes the TBSCertificate of a version 3 certificate (RFC 5280 §4.1). Checks nothing: the caller
 * lints the result.
 *
 * @returns DER
 * @throws RangeError for a time outside the years 1950 to 9999
 */
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

/**
 * Encodes a certificate (RFC 5280 §4.1).
 *
 * @param tbs - DER TBSCertificate
 * @param algorithmDer - the DER AlgorithmIdentifier that is also inside `tbs`
 * @param signature - of `tbs`
 * @returns DER
 */
export function encodeCertificate(
  tbs: Uint8Array,
  algorithmDer: Uint8Array,
  signature: Uint8Array,
): Uint8Array {
  return sequence(tbs, algorithmDer, bitString(signature));
}
