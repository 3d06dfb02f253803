// SPDX-License-Identifier: Apache-2.0
import { formatIp, parseIp } from '../../ip.ts';
import { canonicalUri } from './canonical.ts';
import { readWhole, type DerReader } from '../der/der-reader.ts';
import { contextPrimitive } from '../der/der-tags.ts';
import { asciiOf } from '../der/der-text.ts';
import { element, sequence } from '../der/der-writer.ts';
import { hasControl } from './distinguished-name.ts';
import { inputError } from '../der/input-error.ts';

/** Every rule looks at every name; no TLS peer takes a certificate with so many. */
const MAX_SUBJECT_ALT_NAMES = 1000;

/** OpenSSL reads no chain of more (SSL_MAX_CERT_LIST_DEFAULT): a leaf with more could not be used. */
const MAX_SUBJECT_ALT_NAME_BYTES = 100 * 1024;

/**
 * Of one name. The longest that can be canonical is a URI (src/pki/names/canonical.ts); more is refused before
 * a megabyte of it is looked at character by character.
 */
const MAX_NAME_BYTES = 2048;

/** How much of a foreign text is repeated in a message. */
const SHOWN = 80;

// Choices of GeneralName (RFC 5280 §4.2.1.6).
const EMAIL = contextPrimitive(1);
const DNS = contextPrimitive(2);
const URI = contextPrimitive(6);
const IP = contextPrimitive(7);

/** The kinds of subject alternative names that we issue. */
export interface SubjectAltNames {
  readonly dnsNames: readonly string[];
  /** Canonical text (RFC 5952). */
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
}

/** As decoded: text as it was written, in order, without NUL and other control characters. */
export interface DecodedSubjectAltNames extends SubjectAltNames {
  /** How many there are of other kinds: directory names, registered ids, other names. */
  readonly other: number;
}

export const NO_SUBJECT_ALT_NAMES: DecodedSubjectAltNames = Object.freeze({
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emails: [],
  other: 0,
});

/**
 * The value of a subjectAltName extension: at least one name (RFC 5280 §4.2.1.6).
 *
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

/** Passes a name of another kind that RFC 5280 knows. */
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

/** Two readers find two hosts in a malformed URI; Go refuses the whole certificate for it. */
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

/** The value of a subjectAltName extension, in Go's order: DNS, email, IP, URI. */
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
    const shown = JSON.stringify(name.slice(0, SHOWN));
    throw inputError('NAME_INVALID', `the name ${shown} is empty or not ASCII`);
  }
  return element(tag, Buffer.from(name, 'latin1'));
}

function encodeAddress(name: string): Uint8Array {
  const bytes = parseIp(name);
  if (bytes === undefined) {
    throw inputError('NAME_INVALID', `"${name.slice(0, SHOWN)}" is not an IP address`);
  }
  return bytes;
}
