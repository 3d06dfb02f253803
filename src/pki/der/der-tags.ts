// SPDX-License-Identifier: Apache-2.0
/** Identifier octets (X.690 §8.1.2): class, constructed bit and number in one byte. */

export const TAG_BOOLEAN = 0x01;
export const TAG_INTEGER = 0x02;
export const TAG_BIT_STRING = 0x03;
export const TAG_OCTET_STRING = 0x04;
export const TAG_NULL = 0x05;
export const TAG_OID = 0x06;
export const TAG_UTF8_STRING = 0x0c;
export const TAG_NUMERIC_STRING = 0x12;
export const TAG_PRINTABLE_STRING = 0x13;
export const TAG_TELETEX_STRING = 0x14;
export const TAG_IA5_STRING = 0x16;
export const TAG_UTC_TIME = 0x17;
export const TAG_GENERALIZED_TIME = 0x18;
export const TAG_UNIVERSAL_STRING = 0x1c;
export const TAG_BMP_STRING = 0x1e;
export const TAG_SEQUENCE = 0x30;
export const TAG_SET = 0x31;

/** `[number]` of a primitive type, implicitly tagged. */
export function contextPrimitive(number: number): number {
  return 0x80 | number;
}

/** `[number]` of a constructed type or of anything explicitly tagged. */
export function contextConstructed(number: number): number {
  return 0xa0 | number;
}
