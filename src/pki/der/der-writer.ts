// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import {
  TAG_BIT_STRING,
  TAG_BOOLEAN,
  TAG_GENERALIZED_TIME,
  TAG_IA5_STRING,
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

/** One element: identifier, shortest length, contents. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of contents) length += part.length;
  const lengthOctets = length < 0x80 ? 0 : length < 0x100 ? 1 : length < 0x10000 ? 2 : 4;
  const minimal = lengthOctets === 4 && length < 0x1000000 ? 3 : lengthOctets;
  const bytes = new Uint8Array(2 + minimal + length);
  bytes[0] = tag;
  bytes[1] = minimal === 0 ? length : 0x80 | minimal;
  for (let i = 0; i < minimal; i++) bytes[2 + i] = (length >>> (8 * (minimal - 1 - i))) & 0xff;
  let at = 2 + minimal;
  for (const part of contents) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function sequence(...elements: readonly Uint8Array[]): Uint8Array {
  return element(TAG_SEQUENCE, ...elements);
}

/** SET OF: the encodings in ascending order (X.690 §11.6). */
export function setOf(...elements: readonly Uint8Array[]): Uint8Array {
  return element(TAG_SET, ...elements.toSorted((a, b) => Buffer.compare(a, b)));
}

export function boolean(value: boolean): Uint8Array {
  return element(TAG_BOOLEAN, Uint8Array.of(value ? 0xff : 0x00));
}

/** A non-negative INTEGER from big-endian bytes of any length. */
export function integer(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((octet) => octet !== 0);
  if (first === -1) return element(TAG_INTEGER, Uint8Array.of(0));
  const digits = bytes.subarray(first);
  const padding = ((digits[0] ?? 0) & 0x80) === 0 ? EMPTY : ZERO;
  return element(TAG_INTEGER, padding, digits);
}

const EMPTY = new Uint8Array(0);
const ZERO = Uint8Array.of(0);

/** NULL. */
export function nullValue(): Uint8Array {
  return element(TAG_NULL);
}

/** More than oids.ts has: encodings that are kept, because every certificate needs the same ones. */
const MAX_KNOWN_OIDS = 256;

const known = new Map<string, Uint8Array>();

export function oid(dotted: string): Uint8Array {
  const before = known.get(dotted);
  if (before !== undefined) return before;
  const [root = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const made = element(TAG_OID, Uint8Array.from([root * 40 + second, ...rest].flatMap(base128)));
  if (known.size < MAX_KNOWN_OIDS) known.set(dotted, made);
  return made;
}

function base128(arc: number): readonly number[] {
  const octets = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
    octets.unshift((left % 128) | 0x80);
  }
  return octets;
}

export function octetString(bytes: Uint8Array): Uint8Array {
  return element(TAG_OCTET_STRING, bytes);
}

/** A BIT STRING of whole bytes. */
export function bitString(bytes: Uint8Array): Uint8Array {
  return element(TAG_BIT_STRING, ZERO, bytes);
}

/** A BIT STRING of named bits: as short as its last set bit allows (X.690 §11.2.2). */
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

export function utf8String(text: string): Uint8Array {
  return element(TAG_UTF8_STRING, Buffer.from(text, 'utf8'));
}

/** The caller has checked that `text` has characters of PrintableString only. */
export function printableString(text: string): Uint8Array {
  return element(TAG_PRINTABLE_STRING, Buffer.from(text, 'latin1'));
}

/** The caller has checked that `text` is ASCII. */
export function ia5String(text: string): Uint8Array {
  return element(TAG_IA5_STRING, Buffer.from(text, 'latin1'));
}

/** A UTCTime has two digits of the year: 50 is 1950. */
const FIRST_TIME = Date.UTC(1950, 0, 1);
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * UTCTime before 2050, GeneralizedTime from then on (RFC 5280 §4.1.2.5); whole seconds.
 *
 * @throws RangeError outside the years 1950 to 9999, which neither of them can say
 */
export function validityTime(milliseconds: number): Uint8Array {
  if (!(milliseconds >= FIRST_TIME && milliseconds <= LAST_TIME)) {
    throw new RangeError(`no certificate can say the time ${milliseconds} (milliseconds)`);
  }
  const known = times.get(milliseconds);
  if (known !== undefined) return known;
  const made = timeElement(new Date(milliseconds));
  times.set(milliseconds, made);
  return made;
}

/** Leaves that are made in one second begin and end in one. */
const MAX_KNOWN_TIMES = 64;
const times = new BoundedMap<number, Uint8Array>(MAX_KNOWN_TIMES);

function timeElement(date: Date): Uint8Array {
  const utc = date.getUTCFullYear() < FIRST_GENERALIZED_YEAR;
  const digits = date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '');
  const text = `${utc ? digits.slice(2) : digits}Z`;
  return element(utc ? TAG_UTC_TIME : TAG_GENERALIZED_TIME, Buffer.from(text, 'latin1'));
}
