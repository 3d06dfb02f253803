// SPDX-License-Identifier: Apache-2.0
import {
  TAG_BMP_STRING,
  TAG_IA5_STRING,
  TAG_NUMERIC_STRING,
  TAG_PRINTABLE_STRING,
  TAG_TELETEX_STRING,
  TAG_UNIVERSAL_STRING,
  TAG_UTF8_STRING,
} from './der-tags.ts';
import { malformed } from './input-error.ts';

/**
 * The character string types that a DirectoryString or an IA5String can be (RFC 5280 appendix A.1).
 */
export type StringType =
  | 'UTF8String'
  | 'PrintableString'
  | 'IA5String'
  | 'NumericString'
  | 'TeletexString'
  | 'BMPString'
  | 'UniversalString';

const STRING_TYPES: ReadonlyMap<number, StringType> = new Map([
  [TAG_UTF8_STRING, 'UTF8String'],
  [TAG_PRINTABLE_STRING, 'PrintableString'],
  [TAG_IA5_STRING, 'IA5String'],
  [TAG_NUMERIC_STRING, 'NumericString'],
  [TAG_TELETEX_STRING, 'TeletexString'],
  [TAG_BMP_STRING, 'BMPString'],
  [TAG_UNIVERSAL_STRING, 'UniversalString'],
]);

/** X.680 §41.4, plus `*` and `&`, which CAs have written for decades and Go accepts. */
const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UTF16_BE = new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true });

/**
 * Returns the character string type of an identifier octet.
 *
 * @param tag - undefined if there is no element
 * @param what - the name of the value in messages
 * @throws SignerError DER_MALFORMED when the tag is not one of a character string
 */
export function stringTypeOf(tag: number | undefined, what: string): StringType {
  const type = tag === undefined ? undefined : STRING_TYPES.get(tag);
  if (type === undefined) throw malformed(`${what} is not a character string`);
  return type;
}

/**
 * Decodes the contents of one character string. A character that its type does not allow is an
 * error and is never replaced. UniversalString is always an error, because Go does not read it.
 *
 * @param what - the name of the value in messages
 * @throws SignerError DER_MALFORMED when the contents are not of that type
 */
export function textOf(type: StringType, contents: Uint8Array, what: string): string {
  const text = decode(type, contents);
  if (text === undefined) throw malformed(`${what} is not a valid ${type}`);
  return text;
}

/**
 * Decodes the contents of an IA5String: seven bits a character (RFC 5280 §4.2.1.6 uses it for
 * names).
 *
 * @param what - the name of the value in messages
 * @throws SignerError DER_MALFORMED when an octet is above 0x7f
 */
export function asciiOf(contents: Uint8Array, what: string): string {
  return textOf('IA5String', contents, what);
}

function decode(type: StringType, contents: Uint8Array): string | undefined {
  const latin1 = (): string =>
    Buffer.from(contents.buffer, contents.byteOffset, contents.length).toString('latin1');
  switch (type) {
    case 'UTF8String':
      return valid(UTF8, contents);
    case 'BMPString':
      return contents.length % 2 === 0 ? valid(UTF16_BE, contents) : undefined;
    case 'IA5String':
      return contents.every((octet) => octet < 0x80) ? latin1() : undefined;
    case 'PrintableString':
      return matching(PRINTABLE, latin1());
    case 'NumericString':
      return matching(/^[0-9 ]*$/, latin1());
    case 'TeletexString':
      // Software that writes this type writes Latin-1, never real T.61.
      return latin1();
    case 'UniversalString':
      return undefined;
  }
}

function valid(decoder: typeof UTF8, contents: Uint8Array): string | undefined {
  try {
    return decoder.decode(contents);
  } catch {
    return undefined;
  }
}

function matching(pattern: RegExp, text: string): string | undefined {
  return pattern.test(text) ? text : undefined;
}

/**
 * Lower-cases A to Z and nothing else, as DNS compares names (RFC 4343 §3). String.toLowerCase()
 * turns the Kelvin sign into a k.
 */
export function lowerAscii(text: string): string {
  // Nearly every name is in lower case, and the test costs a tenth of a replacement.
  if (!/[A-Z]/.test(text)) return text;
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
