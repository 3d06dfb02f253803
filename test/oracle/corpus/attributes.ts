// SPDX-License-Identifier: Apache-2.0
import { extension, int, oid, seq, set, tlv, utf8 } from '../../support/pki/der.ts';
import { extensionRequest, type RequestDer } from '../../support/pki/request-der.ts';
import { NAMES, request } from './bases.ts';
import { casesOf, type Case, type Table } from './case.ts';

const REQUEST = 'RFC 2986 §4.1';
const EXTENSIONS = 'RFC 2985 §5.4.2';
const EXTENSION_REQUEST = oid('1.2.840.113549.1.9.14');
const CHALLENGE = oid('1.2.840.113549.1.9.7');

const attributes = (...all: readonly Uint8Array[]): RequestDer => ({ attributes: all });
const values = (...all: readonly Uint8Array[]): RequestDer =>
  attributes(seq(EXTENSION_REQUEST, set(...all)));

const ATTRIBUTES: Table<RequestDer> = {
  none: ['', REQUEST, attributes()],
  challenge: ['', 'RFC 2985 §5.4.1', attributes(seq(CHALLENGE, set(utf8('secret'))))],
  unknown: ['', REQUEST, attributes(seq(oid('1.2.3.4'), set(int(1))))],
  'no-field': ['the attributes are missing', REQUEST, { attributeField: new Uint8Array() }],
  'primitive-field': ['the attributes are primitive', 'X.690 §8.14', { attributeField: tlv(0x80) }],
  'explicit-field': [
    'the attributes are tagged explicitly',
    REQUEST,
    { attributeField: tlv(0xa0, set(extensionRequest(NAMES))) },
  ],
  'second-field': ['a second field follows the attributes', REQUEST, { afterInfo: tlv(0xa1) }],
  'extensions-twice': [
    'extensionRequest occurs twice: two readers take two of them',
    REQUEST,
    attributes(extensionRequest(NAMES), extensionRequest(NAMES)),
  ],
  'attribute-twice': [
    'an attribute occurs twice',
    REQUEST,
    attributes(seq(CHALLENGE, set(utf8('a'))), seq(CHALLENGE, set(utf8('b')))),
  ],
  'no-values': ['extensionRequest has no value', EXTENSIONS, values()],
  'two-values': ['extensionRequest has two values', EXTENSIONS, values(seq(NAMES), seq(NAMES))],
  'no-extension': ['extensionRequest holds no extension', 'RFC 5280 §4.1', values(seq())],
  'one-bare-extension': ['the extension is not in a list', EXTENSIONS, values(NAMES)],
  'values-sequence': [
    'the values are a SEQUENCE',
    REQUEST,
    attributes(seq(EXTENSION_REQUEST, seq(seq(NAMES)))),
  ],
  'values-missing': ['an attribute has a type alone', REQUEST, attributes(seq(CHALLENGE))],
  'attribute-set': ['an attribute is a SET', REQUEST, attributes(set(CHALLENGE, set(utf8('a'))))],
  'type-string': [
    'the type of an attribute is a string',
    REQUEST,
    attributes(seq(utf8('a'), set(utf8('a')))),
  ],
  'type-huge': [
    'the type of an attribute has 10,000 octets',
    'own limit',
    attributes(seq(tlv(0x06, new Uint8Array(10_000).fill(1)), set(utf8('a')))),
  ],
  many: [
    'there are 10,000 attributes',
    'own limit',
    attributes(...Array.from({ length: 10_000 }, (_, i) => seq(oid(`1.2.3.${i}`), set(utf8('a'))))),
  ],
  'version-1': ['the version is 1', REQUEST, { version: int(1) }],
  'version-negative': ['the version is negative', REQUEST, { version: int(0xff) }],
  'version-padded': ['the version is padded', 'X.690 §8.3.2', { version: int(0, 0) }],
  'version-long': [
    'the version has 9 octets',
    REQUEST,
    { version: int(1, 0, 0, 0, 0, 0, 0, 0, 0) },
  ],
  'version-enumerated': ['the version is an ENUMERATED', REQUEST, { version: tlv(0x0a, [0]) }],
  'after-info': ['something follows the attributes', REQUEST, { afterInfo: utf8('a') }],
  'after-signature': ['something follows the signature', REQUEST, { after: utf8('a') }],
  'megabyte-challenge': [
    '',
    'own limit',
    attributes(seq(CHALLENGE, set(utf8('a'.repeat(1_000_000))))),
  ],
  'wishes-for-a-ca': [
    '',
    'RFC 5280 §4.2.1.9',
    attributes(extensionRequest(extension('2.5.29.19', seq(tlv(0x01, [0xff])), true))),
  ],
};

/** What an object of the API cannot be. */
const WHOLE: Table<() => Uint8Array> = {
  nothing: ['there is not an octet', REQUEST, () => new Uint8Array()],
  'one-octet': ['there is one octet', REQUEST, () => Uint8Array.of(0x30)],
  text: ['it is a text', REQUEST, () => Buffer.from('hello')],
  pem: ['it is PEM', REQUEST, () => Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n')],
  'cut-off': ['the last octet is missing', 'X.690 §8.1.3', () => request().subarray(0, -1)],
  'cut-in-half': ['the second half is missing', 'X.690 §8.1.3', () => request().subarray(0, 150)],
  'trailing-octet': ['an octet follows', 'X.690 §10', () => Uint8Array.of(...request(), 0)],
  twice: ['it is there twice', 'X.690 §10', () => Buffer.concat([request(), request()])],
  'claims-4-gib': [
    'it claims 4 GiB (CVE-2025-58185)',
    'X.690 §8.1.3',
    () => Uint8Array.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0),
  ],
  'claims-2-64': [
    'its length has 8 octets',
    'X.690 §8.1.3',
    () => Uint8Array.of(0x30, 0x88, 0, 0, 0, 0, 0, 0, 0, 1, 0),
  ],
  'claims-reserved': [
    'its length octet is FF',
    'X.690 §8.1.3.5',
    () => Uint8Array.of(0x30, 0xff, 0),
  ],
  'high-tag': ['its tag number is above 30', 'X.690 §8.1.2', () => Uint8Array.of(0x3f, 0x30, 0)],
  'too-large': [
    'it has more than 1.5 MiB',
    'own limit',
    () => request({ attributes: [seq(CHALLENGE, set(utf8('a'.repeat(1_600_000))))] }),
  ],
};

export function attributeCases(): readonly Case[] {
  return [
    ...casesOf('request', 'attributes', ATTRIBUTES, request),
    ...casesOf('request', 'whole', WHOLE, (bytes) => bytes()),
  ];
}
