// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import {
  TAG_BIT_STRING,
  TAG_BOOLEAN,
  TAG_GENERALIZED_TIME,
  TAG_INTEGER,
  TAG_NULL,
  TAG_OCTET_STRING,
  TAG_OID,
  TAG_PRINTABLE_STRING,
  TAG_SEQUENCE,
  TAG_SET,
  TAG_UTC_TIME,
  TAG_UTF8_STRING,
} from './der-tags.ts';
import { FIRST_GENERALIZED_YEAR } from './der-time.ts';

/**
 * Encodes one element: identifier octet, shortest length (X.690 §10.1), contents.
 *
 * @param tag - the identifier octet
 * @param contents - parts to concatenate, up to 4 GiB together
 */
export function element(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of contents) length += part.length;
  const octets = lengthOctets(length);
  const bytes = new Uint8Array(2 + octets + length);
  bytes[0] = tag;
  bytes[1] = octets === 0 ? length : 0x80 | octets;
  for (let i = 0; i < octets; i++) bytes[2 + i] = (length >>> (8 * (octets - 1 - i))) & 0xff;
  let at = 2 + octets;
  for (const part of contents) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Returns the number of octets that follow the first one of a length: 0 for the short form. */
function lengthOctets(length: number): number {
  if (length < 0x80) return 0;
  if (length < 0x100) return 1;
  if (length < 0x10000) return 2;
  return length < 0x1000000 ? 3 : 4;
}

/** Encodes a SEQUENCE or SEQUENCE OF, with the elements in the given order (X.690 §8.9, §8.10). */
export function sequence(...elements: readonly Uint8Array[]): Uint8Array {
  return element(TAG_SEQUENCE, ...elements);
}

/** Encodes a SET OF, with the encoded elements in ascending order (X.690 §11.6). */
export function setOf(...elements: readonly Uint8Array[]): Uint8Array {
  return element(TAG_SET, ...elements.toSorted((a, b) => Buffer.compare(a, b)));
}

/** Encodes a BOOLEAN (X.690 §11.1). */
export function boolean(value: boolean): Uint8Array {
  return element(TAG_BOOLEAN, Uint8Array.of(value ? 0xff : 0x00));
}

const EMPTY = new Uint8Array(0);
const ZERO = Uint8Array.of(0);

/**
 * Encodes a non-negative INTEGER, as short as possible (X.690 §8.3).
 *
 * @param bytes - the big-endian unsigned number. Leading zeros are dropped, and no bytes mean 0.
 */
export function integer(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((octet) => octet !== 0);
  if (first === -1) return element(TAG_INTEGER, Uint8Array.of(0));
  const digits = bytes.subarray(first);
  const padding = ((digits[0] ?? 0) & 0x80) === 0 ? EMPTY : ZERO;
  return element(TAG_INTEGER, padding, digits);
}

/** Encodes a NULL (X.690 §8.8). */
export function nullValue(): Uint8Array {
  return element(TAG_NULL);
}

/** The size of the cache, more than oids.ts has. */
const MAX_CACHED_OIDS = 256;

/** A module-level cache, because every certificate needs the same encodings. */
const encodedOids = new BoundedMap<string, Uint8Array>(MAX_CACHED_OIDS);

/**
 * Encodes an OBJECT IDENTIFIER (X.690 §8.19).
 *
 * @param dotted - dotted decimal text of at least two arcs, not checked
 * @returns an encoding that callers share: do not modify it
 */
export function oid(dotted: string): Uint8Array {
  const cached = encodedOids.get(dotted);
  if (cached !== undefined) return cached;
  const [root = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const encoded = element(TAG_OID, Uint8Array.from([root * 40 + second, ...rest].flatMap(base128)));
  encodedOids.set(dotted, encoded);
  return encoded;
}

function base128(arc: number): readonly number[] {
  const octets = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
    octets.unshift((left % 128) | 0x80);
  }
  return octets;
}

/** Encodes an OCTET STRING (X.690 §8.7). */
export function octetString(bytes: Uint8Array): Uint8Array {
  return element(TAG_OCTET_STRING, bytes);
}

/** Encodes a BIT STRING of whole bytes, as keys and signatures are (X.690 §8.6). */
export function bitString(bytes: Uint8Array): Uint8Array {
  return element(TAG_BIT_STRING, ZERO, bytes);
}

/**
 * Encodes a BIT STRING with named bits, which ends with the last set bit (X.690 §11.2.2).
 *
 * @param bits - the numbers of the set bits, in any order
 */
export function namedBitString(bits: readonly number[]): Uint8Array {
  if (bits.length === 0) return element(TAG_BIT_STRING, ZERO);
  const last = Math.max(...bits);
  const octets = new Uint8Array(2 + (last >> 3));
  octets[0] = 7 - (last & 7);
  for (const bit of bits) {
    const at = 1 + (bit >> 3);
    octets[at] = (octets[at] ?? 0) | (0x80 >> (bit & 7));
  }
  return element(TAG_BIT_STRING, octets);
}

/** Encodes a UTF8String. Lone surrogates in `text` become U+FFFD. */
export function utf8String(text: string): Uint8Array {
  return element(TAG_UTF8_STRING, Buffer.from(text, 'utf8'));
}

/**
 * Encodes a PrintableString. The caller checks that `text` has only characters of that type (X.680
 * §41.4).
 */
export function printableString(text: string): Uint8Array {
  return element(TAG_PRINTABLE_STRING, Buffer.from(text, 'latin1'));
}

/**
 * The first time that a certificate or a CRL can express, in milliseconds since 1970. The two
 * digits of a UTCTime's year begin with 1950 (RFC 5280 §4.1.2.5.1).
 */
export const FIRST_TIME = Date.UTC(1950, 0, 1);
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The size of the cache. Leaves that are signed within one second begin and end at the same times.
 */
const MAX_CACHED_TIMES = 64;

/** A module-level cache, by milliseconds since 1970. */
const encodedTimes = new BoundedMap<number, Uint8Array>(MAX_CACHED_TIMES);

/**
 * Encodes the Time of a validity: UTCTime before 2050, GeneralizedTime from then on (RFC 5280
 * §4.1.2.5).
 *
 * @param milliseconds - since 1970. Fractions of a second are dropped.
 * @returns an encoding that callers share: do not modify it
 * @throws RangeError outside the years 1950 to 9999, which no Time can express
 */
export function validityTime(milliseconds: number): Uint8Array {
  if (!(milliseconds >= FIRST_TIME && milliseconds <= LAST_TIME)) {
    throw new RangeError(
      `a certificate can express the years 1950 to 9999, not ${milliseconds} ms since 1970`,
    );
  }
  const cached = encodedTimes.get(milliseconds);
  if (cached !== undefined) return cached;
  const encoded = timeElement(new Date(milliseconds));
  encodedTimes.set(milliseconds, encoded);
  return encoded;
}

function timeElement(date: Date): Uint8Array {
  const utc = date.getUTCFullYear() < FIRST_GENERALIZED_YEAR;
  const digits = date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '');
  const text = `${utc ? digits.slice(2) : digits}Z`;
  return element(utc ? TAG_UTC_TIME : TAG_GENERALIZED_TIME, Buffer.from(text, 'latin1'));
}
