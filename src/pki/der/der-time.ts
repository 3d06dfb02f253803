// SPDX-License-Identifier: Apache-2.0
import { type DerReader } from './der-reader.ts';
import { TAG_GENERALIZED_TIME, TAG_UTC_TIME } from './der-tags.ts';
import { malformed } from './input-error.ts';

/** The first year of GeneralizedTime. CAs write earlier ones as UTCTime (RFC 5280 §4.1.2.5). */
export const FIRST_GENERALIZED_YEAR = 2050;

/** YYMMDDHHMMSSZ and YYYYMMDDHHMMSSZ. */
const UTC_LENGTH = 13;
const GENERALIZED_LENGTH = 15;

/**
 * Reads notBefore or notAfter at the reader's position: whole seconds of UTC as UTCTime (1950 to
 * 2049) or GeneralizedTime (0000 to 9999). RFC 5280 §4.1.2.5 has CAs write UTCTime through 2049,
 * and readers process both.
 *
 * @param what - the name of the value in messages
 * @returns milliseconds since 1970
 * @throws SignerError DER_MALFORMED
 */
export function readValidityTime(reader: DerReader, what: string): number {
  const utc = reader.at(TAG_UTC_TIME);
  const text = reader.read(utc ? TAG_UTC_TIME : TAG_GENERALIZED_TIME, what);
  if (!isZulu(text, utc ? UTC_LENGTH : GENERALIZED_LENGTH)) {
    throw malformed(`${what} is not a time in whole seconds of UTC`);
  }
  const year = utc ? century(pair(text, 0)) : pair(text, 0) * 100 + pair(text, 2);
  const time = timeOf(year, text.subarray(utc ? 2 : 4));
  if (time === undefined) throw malformed(`${what} is a time that does not exist`);
  return time;
}

/** Reports whether a text is digits with a Z at the end. */
function isZulu(text: Uint8Array, length: number): boolean {
  return (
    text.length === length &&
    text.at(-1) === 0x5a &&
    text.subarray(0, -1).every((octet) => octet >= 0x30 && octet <= 0x39)
  );
}

/** Returns the number of two digits. */
function pair(text: Uint8Array, at: number): number {
  return ((text[at] ?? 0) - 0x30) * 10 + ((text[at + 1] ?? 0) - 0x30);
}

/** Returns the year of two digits (RFC 5280 §4.1.2.5.1). */
function century(year: number): number {
  return year < FIRST_GENERALIZED_YEAR - 2000 ? 2000 + year : 1900 + year;
}

/**
 * Returns the time of MMDDHHMMSS, or undefined if it does not exist. Date.UTC carries over: 31
 * February would become a day of March.
 */
function timeOf(year: number, text: Uint8Array): number | undefined {
  const [month, day] = [pair(text, 0) - 1, pair(text, 2)];
  const [hour, minute, second] = [pair(text, 4), pair(text, 6), pair(text, 8)];
  const date = new Date(0);
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, second);
  const exists =
    date.getUTCMonth() === month &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  return exists ? date.getTime() : undefined;
}
