// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import { formatIp, parseIp } from '#base/ip.ts';
import { canonicalUri } from './canonical-uri.ts';
import { readWhole, type DerReader } from '../der/der-reader.ts';
import { contextPrimitive } from '../der/der-tags.ts';
import { asciiOf } from '../der/der-text.ts';
import { element, sequence } from '../der/der-writer.ts';
import { hasControl } from './distinguished-name.ts';
import { inputError } from '../der/input-error.ts';

/**
 * The limit of names. Every rule reads every name, and no TLS peer accepts a certificate with so
 * many.
 */
const MAX_SUBJECT_ALT_NAMES = 1000;

/**
 * The limit of the extension in bytes. OpenSSL reads no longer chain (SSL_MAX_CERT_LIST_DEFAULT),
 * so a leaf with more would be useless.
 */
const MAX_SUBJECT_ALT_NAME_BYTES = 100 * 1024;

/**
 * The limit of one name in bytes. No canonical name is longer. The longest is a URI, see
 * canonical.ts.
 */
const MAX_NAME_BYTES = 2048;

// Choices of GeneralName (RFC 5280 §4.2.1.6).
const EMAIL = contextPrimitive(1);
const DNS = contextPrimitive(2);
const URI = contextPrimitive(6);
const IP = contextPrimitive(7);

/** Subject alternative names of the four supported kinds. */
export interface SubjectAltNames {
  readonly dnsNames: readonly string[];
  /** RFC 5952 text. */
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
}

/**
 * The names of a decoded subjectAltName in order, in their original text, except IP addresses, and
 * without control characters. Only URIs are known to be canonical up to case.
 */
export interface DecodedSubjectAltNames extends SubjectAltNames {
  /** The number of names of other kinds, such as directoryName or registeredID. */
  readonly other: number;
}

/** The names of a certificate or a request without a subjectAltName. */
export const NO_SUBJECT_ALT_NAMES: DecodedSubjectAltNames = Object.freeze({
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emails: [],
  other: 0,
});

/**
 * Decodes a subjectAltName: at least one name (RFC 5280 §4.2.1.6).
 *
 * @param value - the contents of the extnValue OCTET STRING
 * @throws SignerError DER_MALFORMED, DER_LIMIT or NAME_INVALID
 */
export function decodeSubjectAltNames(value: Uint8Array): DecodedSubjectAltNames {
  const names = readWhole(value, 'subjectAltName', MAX_SUBJECT_ALT_NAME_BYTES);
  if (names.isDone()) throw names.malformed('subjectAltName has no names');
  const dnsNames: string[] = [];
  const ipAddresses: string[] = [];
  const uris: string[] = [];
  const emails: string[] = [];
  let other = 0;
  for (let count = 1; !names.isDone(); count++) {
    if (count > MAX_SUBJECT_ALT_NAMES) {
      throw inputError('DER_LIMIT', `subjectAltName has more than ${MAX_SUBJECT_ALT_NAMES} names`);
    }
    if (names.at(DNS)) dnsNames.push(text(names, DNS, 'a DNS name'));
    else if (names.at(IP)) ipAddresses.push(address(names));
    else if (names.at(URI)) uris.push(uri(names));
    else if (names.at(EMAIL)) emails.push(text(names, EMAIL, 'an email address'));
    else {
      requireKind(names);
      other += 1;
    }
  }
  return { dnsNames, ipAddresses, uris, emails, other };
}

/** Skips a name of another kind of RFC 5280. */
function requireKind(names: DerReader): void {
  const tag = names.peek() ?? 0;
  const known = tag === 0xa0 || tag === 0xa3 || tag === 0xa4 || tag === 0xa5 || tag === 0x88;
  if (!known) throw names.malformed('subjectAltName has a name of an unknown kind');
  names.raw('a subject alternative name');
}

function text(names: DerReader, tag: number, what: string): string {
  const contents = names.read(tag, what);
  if (contents.length > MAX_NAME_BYTES) {
    throw inputError(
      'DER_LIMIT',
      `subjectAltName has ${what} of more than ${MAX_NAME_BYTES} bytes`,
    );
  }
  const value = asciiOf(contents, what);
  if (value === '' || hasControl(value)) {
    throw inputError(
      'NAME_INVALID',
      `subjectAltName has ${what} that is empty or has a NUL or control character`,
    );
  }
  return value;
}

/**
 * Reads a URI. Readers find different hosts in a malformed URI, and Go rejects a certificate with
 * one.
 */
function uri(names: DerReader): string {
  const value = text(names, URI, 'a URI');
  canonicalUri(value);
  return value;
}

function address(names: DerReader): string {
  const bytes = names.read(IP, 'an IP address');
  const found = formatIp(bytes);
  if (found === undefined) {
    throw inputError('NAME_INVALID', `subjectAltName has an IP address of ${bytes.length} bytes`);
  }
  return found;
}

/**
 * Encodes a subjectAltName in Go's order: DNS, email, IP, URI.
 *
 * @param names - names whose canonical spelling the caller has checked
 * @returns the contents of the extnValue OCTET STRING
 * @throws SignerError NAME_INVALID for text that is empty or not printable ASCII, or for an invalid
 *   IP address
 */
export function encodeSubjectAltNames(names: SubjectAltNames): Uint8Array {
  return sequence(
    ...names.dnsNames.map((name) => encodeText(DNS, name)),
    ...names.emails.map((name) => encodeText(EMAIL, name)),
    ...names.ipAddresses.map((name) => element(IP, encodeAddress(name))),
    ...names.uris.map((name) => encodeText(URI, name)),
  );
}

function encodeText(tag: number, name: string): Uint8Array {
  if (name === '' || hasControl(name) || /[^ -~]/.test(name)) {
    const remedy = tag === DNS ? aLabelAdvice(name) : '';
    throw inputError(
      'NAME_INVALID',
      `the name ${quote(name)} is empty or not printable ASCII${remedy}`,
    );
  }
  return element(tag, Buffer.from(name, 'latin1'));
}

/** Returns advice with the A-labels of an internationalized name (RFC 5280 §7.2), or ''. */
function aLabelAdvice(name: string): string {
  const url = `https://${name}`;
  if (name === '' || /[/?#@:\\]/.test(name) || !URL.canParse(url)) return '';
  return `; write ${quote(new URL(url).hostname)}`;
}

function encodeAddress(name: string): Uint8Array {
  const bytes = parseIp(name);
  if (bytes === undefined) {
    throw inputError('NAME_INVALID', `${quote(name)} is not an IP address`);
  }
  return bytes;
}
