// SPDX-License-Identifier: Apache-2.0
import { DerReader } from '../der/der-reader.ts';
import { TAG_OID, TAG_SEQUENCE, TAG_SET } from '../der/der-tags.ts';
import { stringTypeOf, textOf, type StringType } from '../der/der-text.ts';
import { oidOf } from '../der/der-values.ts';
import { oid, printableString, sequence, setOf, utf8String } from '../der/der-writer.ts';
import {
  OID_COMMON_NAME,
  OID_COUNTRY,
  OID_DOMAIN_COMPONENT,
  OID_LOCALITY,
  OID_ORGANIZATION,
  OID_ORGANIZATIONAL_UNIT,
  OID_STATE,
  OID_STREET,
  OID_USER_ID,
} from '../der/oids.ts';
import { inputError } from '../der/input-error.ts';

/**
 * The limit of attributes. Organizations are groups of a user. Verifiers and servers reject
 * certificates with many more.
 */
const MAX_DN_ATTRIBUTES = 256;

/**
 * The limit of one value in bytes. X.520 allows 64 characters, but user names from OIDC contain the
 * URL of their issuer. The limit bounds the cost of each check of a name.
 */
const MAX_ATTRIBUTE_VALUE_BYTES = 2048;

/** The limit of a whole name in bytes. It must fit into a certificate that TLS peers accept. */
const MAX_DN_BYTES = 100 * 1024;

/** One AttributeTypeAndValue (RFC 5280 §4.1.2.4). */
export interface NameAttribute {
  /** The type, as dotted decimal text. */
  readonly oid: string;
  /** The decoded text, not normalized. */
  readonly value: string;
  readonly stringType: StringType;
}

/** A decoded X.501 Name (RFC 5280 §4.1.2.4). Compare names by `raw`, byte for byte, as Go does. */
export interface DistinguishedName {
  /** DER, including the header. */
  readonly raw: Uint8Array;
  /** The attributes in the order of the encoding. The empty name has none. */
  readonly attributes: readonly NameAttribute[];
  /**
   * The reasons why a request may not have this name, as ends of a sentence. A CA's own name may
   * have such faults.
   */
  readonly problems: readonly string[];
}

/** The attribute types that may occur more than once in the subject of a request. */
const REPEATABLE: ReadonlySet<string> = new Set([
  OID_ORGANIZATION,
  OID_ORGANIZATIONAL_UNIT,
  OID_DOMAIN_COMPONENT,
]);

/**
 * Reads the Name at the reader's position.
 *
 * @param what - the name of the value in messages
 * @throws SignerError DER_MALFORMED, or DER_LIMIT above 100 KiB, 256 attributes or 2 KiB a value
 */
export function readName(reader: DerReader, what: string): DistinguishedName {
  return decodeName(reader.raw(what), what);
}

function decodeName(der: Uint8Array, what: string): DistinguishedName {
  if (der.length > MAX_DN_BYTES) {
    throw inputError('DER_LIMIT', `${what} has more than ${MAX_DN_BYTES} bytes`);
  }
  const outer = new DerReader(der, what);
  const names = outer.sequence(what);
  outer.finish();
  const attributes: NameAttribute[] = [];
  const problems: string[] = [];
  while (!names.isDone()) {
    const relative = readRelativeName(names, what);
    attributes.push(...relative);
    const types = new Set(relative.map((each) => each.oid));
    // Go writes several organizations as one relative name, and every reader accepts that.
    if (types.size > 1) problems.push('a relative name with attributes of several types');
    if (attributes.length > MAX_DN_ATTRIBUTES) {
      throw inputError('DER_LIMIT', `${what} has more than ${MAX_DN_ATTRIBUTES} attributes`);
    }
  }
  return { raw: der, attributes, problems: [...problems, ...attributeProblems(attributes)] };
}

/** Reads a RelativeDistinguishedName: at least one attribute, in ascending order (X.690 §11.6). */
function readRelativeName(names: DerReader, what: string): readonly NameAttribute[] {
  const label = `an attribute of ${what}`;
  const set = names.enter(TAG_SET, `a relative name of ${what}`);
  const attributes: NameAttribute[] = [];
  let previous: Uint8Array | undefined;
  do {
    const raw = set.raw(label, TAG_SEQUENCE);
    if (previous !== undefined && Buffer.compare(previous, raw) > 0) {
      throw set.malformed(`${label} is not in ascending order`);
    }
    previous = raw;
    attributes.push(readAttribute(new DerReader(raw, label), what));
  } while (!set.isDone());
  return attributes;
}

function readAttribute(set: DerReader, what: string): NameAttribute {
  const pair = set.sequence(`an attribute of ${what}`);
  const type = oidOf(pair.read(TAG_OID, `an attribute of ${what}`), what);
  const label = `${ATTRIBUTE_NAMES.get(type) ?? type} of ${what}`;
  const tag = pair.peek();
  const stringType = stringTypeOf(tag, label);
  const contents = pair.read(tag ?? 0, label);
  if (contents.length > MAX_ATTRIBUTE_VALUE_BYTES) {
    throw inputError('DER_LIMIT', `${label} has more than ${MAX_ATTRIBUTE_VALUE_BYTES} bytes`);
  }
  const value = textOf(stringType, contents, label);
  pair.finish();
  return { oid: type, value, stringType };
}

function attributeProblems(attributes: readonly NameAttribute[]): readonly string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { oid: type, value, stringType } of attributes) {
    const name = ATTRIBUTE_NAMES.get(type) ?? type;
    if (seen.has(type) && !REPEATABLE.has(type)) problems.push(`${name} twice`);
    seen.add(type);
    // The agents of Istio's sidecars send an empty organization, which the reader of a request
    // ignores.
    if (value === '' && type !== OID_ORGANIZATION) problems.push(`an empty ${name}`);
    if (UNREADABLE.has(stringType)) problems.push(`${name} as ${stringType}`);
    if (hasControl(value)) problems.push(`a control character in ${name}`);
  }
  return problems;
}

/** String types that verifiers decode differently. */
const UNREADABLE: ReadonlySet<StringType> = new Set([
  'TeletexString',
  'BMPString',
  'UniversalString',
]);

/** C0, DEL and C1. NUL ends strings in C, and others forge lines of logs. */
const CONTROL = /\p{Cc}/gu;

/** Reports whether a text contains a control character (Unicode category Cc). */
export function hasControl(text: string): boolean {
  return text.search(CONTROL) !== -1;
}

/** The parts of an issued Name before encoding. */
export interface NameParts {
  readonly organizations: readonly string[];
  readonly organizationalUnits: readonly string[];
  /** The common name, or ''. */
  readonly commonName: string;
}

/**
 * Encodes a Name: organizations, organizational units, common name. Each attribute is a relative
 * name of its own, which keeps the order of the organizations. Go sorts them into one relative
 * name. Values are PrintableString if that type can hold them, else UTF8String (RFC 5280 §4.1.2.4).
 *
 * @returns DER
 * @throws SignerError NAME_INVALID for an empty value, a control character or a lone surrogate
 */
export function encodeName(parts: NameParts): Uint8Array {
  const { organizations, organizationalUnits, commonName } = parts;
  return sequence(
    ...organizations.map((value) => relativeName(OID_ORGANIZATION, value)),
    ...organizationalUnits.map((value) => relativeName(OID_ORGANIZATIONAL_UNIT, value)),
    ...(commonName === '' ? [] : [relativeName(OID_COMMON_NAME, commonName)]),
  );
}

function relativeName(type: string, value: string): Uint8Array {
  if (value === '' || hasControl(value) || !value.isWellFormed()) {
    const name = ATTRIBUTE_NAMES.get(type) ?? type;
    throw inputError(
      'NAME_INVALID',
      `${name} is empty or contains a control character or a lone surrogate`,
    );
  }
  const printable = /^[A-Za-z0-9 '()+,\-./:=?]+$/.test(value);
  return setOf(sequence(oid(type), printable ? printableString(value) : utf8String(value)));
}

/** Returns an attribute type for a message: its name, or the OID. RFC 4519 has the names. */
export function attributeText(oid: string): string {
  const name = ATTRIBUTE_NAMES.get(oid) ?? OTHER_NAMES.get(oid);
  return name === undefined ? oid : `${name} (${oid})`;
}

/** Types without a short name in RFC 4514 §3, by their names in RFC 4519 and RFC 5280. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['2.5.4.4', 'surname'],
  ['2.5.4.5', 'serialNumber'],
  ['2.5.4.12', 'title'],
  ['2.5.4.13', 'description'],
  ['2.5.4.15', 'businessCategory'],
  ['2.5.4.17', 'postalCode'],
  ['2.5.4.42', 'givenName'],
  ['2.5.4.43', 'initials'],
  ['2.5.4.46', 'dnQualifier'],
  ['2.5.4.65', 'pseudonym'],
  ['2.5.4.97', 'organizationIdentifier'],
  ['1.2.840.113549.1.9.1', 'emailAddress'],
  ['1.3.6.1.4.1.311.60.2.1.2', 'jurisdictionST'],
  ['1.3.6.1.4.1.311.60.2.1.3', 'jurisdictionC'],
]);

const ATTRIBUTE_NAMES: ReadonlyMap<string, string> = new Map([
  [OID_COMMON_NAME, 'CN'],
  [OID_COUNTRY, 'C'],
  [OID_LOCALITY, 'L'],
  [OID_STATE, 'ST'],
  [OID_STREET, 'STREET'],
  [OID_ORGANIZATION, 'O'],
  [OID_ORGANIZATIONAL_UNIT, 'OU'],
  [OID_DOMAIN_COMPONENT, 'DC'],
  [OID_USER_ID, 'UID'],
]);

/** Returns the common names of a name in their order. Most names have one. */
export function commonNamesOf({
  attributes,
}: Pick<DistinguishedName, 'attributes'>): readonly string[] {
  return attributes.filter(({ oid }) => oid === OID_COMMON_NAME).map(({ value }) => value);
}

/**
 * Returns the name as RFC 4514 text, last attribute first, for messages. Two names can have the
 * same text.
 */
export function nameText(name: DistinguishedName): string {
  return name.attributes
    .map(({ oid: type, value }) => `${ATTRIBUTE_NAMES.get(type) ?? type}=${escaped(value)}`)
    .reverse()
    .join(',');
}

function escaped(value: string): string {
  return value
    .replaceAll(/["+,;<>\\]/g, String.raw`\$&`)
    .replace(/^[ #]/, String.raw`\$&`)
    .replace(/ $/, String.raw`\ `)
    .replaceAll(CONTROL, (character) =>
      Buffer.from(character)
        .toString('hex')
        .replaceAll(/../g, String.raw`\$&`),
    );
}
