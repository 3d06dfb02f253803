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
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map(Number);
  const full = utc ? (year < 50 ? 2000 + year : 1900 + year) : year;
  if (!utc && full < FIRST_GENERALIZED_YEAR) {
    throw malformed(`${what} is before ${FIRST_GENERALIZED_YEAR} and yet a GeneralizedTime`);
  }
  const time = Date.UTC(full, month - 1, day, hour, minute, second);
  const back = new Date(time);
  // Date.UTC carries over: the 31st of February would be a day of March.
  const exists =
    back.getUTCMonth() === month - 1 &&
    back.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  if (!exists) throw malformed(`${what} is a time that does not exist`);
  return time;
}
