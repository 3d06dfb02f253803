// SPDX-License-Identifier: Apache-2.0
import { type DerReader, malformed } from './der-reader.ts';
import { TAG_GENERALIZED_TIME, TAG_UTC_TIME } from './der-tags.ts';

/** From here on GeneralizedTime, before it UTCTime (RFC 5280 §4.1.2.5). */
export const FIRST_GENERALIZED_YEAR = 2050;

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/** A time of a validity in milliseconds: whole seconds, Zulu, each form only in its years. */
export function readTime(reader: DerReader, what: string): number {
  const utc = reader.at(TAG_UTC_TIME);
  const contents = reader.read(utc ? TAG_UTC_TIME : TAG_GENERALIZED_TIME, what);
  const text = Buffer.from(contents.buffer, contents.byteOffset, contents.length).toString(
    'latin1',
  );
  const match = (utc ? UTC_TIME : GENERALIZED_TIME).exec(text);
  if (match === null) throw malformed(`${what} is not a time in whole seconds of UTC`);
  const digits = utc ? century(text) + text : text;
  if (!utc && Number(digits.slice(0, 4)) < FIRST_GENERALIZED_YEAR) {
    throw malformed(`${what} is before ${FIRST_GENERALIZED_YEAR} and yet a GeneralizedTime`);
  }
  const iso = digits.replace(GENERALIZED_TIME, '$1-$2-$3T$4:$5:$6.000Z');
  const time = Date.parse(iso);
  // Date.parse carries over: the 31st of February would be a day of March.
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso) {
    throw malformed(`${what} is a time that does not exist`);
  }
  return time;
}

/** RFC 5280 §4.1.2.5.1. */
function century(text: string): string {
  return Number(text.slice(0, 2)) < FIRST_GENERALIZED_YEAR - 2000 ? '20' : '19';
}
