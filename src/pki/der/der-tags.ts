// SPDX-License-Identifier: Apache-2.0
// Identifier octets (X.690 §8.1.2): class, constructed bit and tag number in one byte.
// The numbers of the universal class are those of X.680, table 1.

/** BOOLEAN: `0x00` or `0xff` (X.690 §11.1). */
export const TAG_BOOLEAN = 0x01;
/** INTEGER: two's complement, as short as possible (X.690 §8.3). */
export const TAG_INTEGER = 0x02;
/** BIT STRING: the number of unused bits, then the bits (X.690 §8.6). */
export const TAG_BIT_STRING = 0x03;
/** OCTET STRING (X.690 §8.7). */
export const TAG_OCTET_STRING = 0x04;
/** NULL: no contents (X.690 §8.8). */
export const TAG_NULL = 0x05;
/** OBJECT IDENTIFIER: arcs in base 128 (X.690 §8.19). */
export const TAG_OID = 0x06;
/** ENUMERATED: encoded as an INTEGER (X.690 §8.4). */
export const TAG_ENUMERATED = 0x0a;
/** UTF8String. */
export const TAG_UTF8_STRING = 0x0c;
/** NumericString: digits and spaces. */
export const TAG_NUMERIC_STRING = 0x12;
/** PrintableString: letters, digits, space and a few marks (X.680 §41.4). */
export const TAG_PRINTABLE_STRING = 0x13;
/** TeletexString, also called T61String. */
export const TAG_TELETEX_STRING = 0x14;
/** IA5String: ASCII. */
export const TAG_IA5_STRING = 0x16;
/** UTCTime: two digits of the year (X.690 §11.8). */
export const TAG_UTC_TIME = 0x17;
/** GeneralizedTime: four digits of the year (X.690 §11.7). */
export const TAG_GENERALIZED_TIME = 0x18;
/** UniversalString: four octets a character. */
export const TAG_UNIVERSAL_STRING = 0x1c;
/** BMPString: two octets a character. */
export const TAG_BMP_STRING = 0x1e;
/** SEQUENCE and SEQUENCE OF, with the constructed bit (X.690 §8.9, §8.10). */
export const TAG_SEQUENCE = 0x30;
/** SET and SET OF, with the constructed bit (X.690 §8.11, §8.12). */
export const TAG_SET = 0x31;

/**
 * Returns the identifier octet of `[number]` on a primitive type, implicitly tagged (X.690 §8.14).
 *
 * @param number - 0 to 30
 */
export function contextPrimitive(number: number): number {
  return 0x80 | number;
}

/**
 * Returns the identifier octet of `[number]` on a constructed type, or on any explicitly tagged
 * type (X.690 §8.14).
 *
 * @param number - 0 to 30
 */
export function contextConstructed(number: number): number {
  return 0xa0 | number;
}
