// SPDX-License-Identifier: Apache-2.0
import type { CertificateDer } from '../../support/pki/certificate-der.ts';
import { named } from '../../support/pki/certificate-der.ts';
import {
  NULL,
  bits,
  explicit,
  generalizedTime,
  implicit,
  int,
  oid,
  seq,
  set,
  tlv,
  utcTime,
} from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { ECDSA_SHA256, RSA_SHA256 } from '../../support/pki/request-der.ts';
import { LEAF_EXTENSIONS, IDENTIFIERS, NAMES, certificate } from './bases.ts';
import { casesOf, type Case, type Table } from './case.ts';

const TIME = 'RFC 5280 §4.1.2.5';
const SERIAL = 'RFC 5280 §4.1.2.2';
const VERSION = 'RFC 5280 §4.1.2.1';
const ML_DSA_65 = '2.16.840.1.101.3.4.3.18';
const BEGIN = utcTime('260101000000Z');
const END = utcTime('270101000000Z');

const from = (begin: Uint8Array): CertificateDer => ({ validity: seq(begin, END) });
const until = (end: Uint8Array): CertificateDer => ({ validity: seq(BEGIN, end) });
const serial = (...octets: readonly number[]): CertificateDer => ({ serial: int(...octets) });
const extensions = seq(...LEAF_EXTENSIONS, ...IDENTIFIERS, NAMES);
const uniqueId = (number: number): Uint8Array => implicit(number, [0, 1]);

const TIMES: Table<CertificateDer> = {
  utc: ['', TIME, from(BEGIN)],
  'generalized-2050': ['', TIME, until(generalizedTime('20500101000000Z'))],
  'year-9999': ['', TIME, until(generalizedTime('99991231235959Z'))],
  'utc-1950': ['', TIME, from(utcTime('500101000000Z'))],
  'generalized-before-2050': [
    'a year before 2050 is a GeneralizedTime',
    TIME,
    until(generalizedTime('20270101000000Z')),
  ],
  'not-yet': ['it is not valid yet', 'RFC 5280 §6.1.3', from(utcTime('261201000000Z'))],
  expired: [
    'it has expired',
    'RFC 5280 §6.1.3',
    { validity: seq(utcTime('250101000000Z'), utcTime('260101000000Z')) },
  ],
  'back-to-front': [
    'it ends before it begins',
    TIME,
    { validity: seq(utcTime('270101000000Z'), utcTime('250101000000Z')) },
  ],
  'utc-no-seconds': ['there are no seconds', 'X.690 §11.8.2', until(utcTime('2701010000Z'))],
  'utc-offset': [
    'there is an offset instead of Z',
    'X.690 §11.8.1',
    until(utcTime('270101000000+0000')),
  ],
  'utc-no-z': ['there is no Z', 'X.690 §11.8.1', until(utcTime('270101000000'))],
  'generalized-fraction': [
    'there are fractions of a second',
    'RFC 5280 §4.1.2.5.2',
    until(generalizedTime('20500101000000.5Z')),
  ],
  'generalized-offset': [
    'there is an offset instead of Z',
    'RFC 5280 §4.1.2.5.2',
    until(generalizedTime('20500101000000+0100')),
  ],
  'month-13': ['the month is the 13th', 'X.680 §46', until(utcTime('271301000000Z'))],
  'month-0': ['the month is 0', 'X.680 §46', until(utcTime('270001000000Z'))],
  'february-30': ['it is the 30th of February', 'X.680 §46', until(utcTime('270230000000Z'))],
  'leap-day-missing': [
    '2027 has no 29th of February',
    'X.680 §46',
    until(utcTime('270229000000Z')),
  ],
  'day-0': ['the day is 0', 'X.680 §46', until(utcTime('270100000000Z'))],
  'hour-24': ['the hour is 24', 'X.680 §46', until(utcTime('270101240000Z'))],
  'second-60': ['the second is 60', 'X.680 §46', until(utcTime('270101000060Z'))],
  letters: ['there are letters', 'X.680 §46', until(utcTime('27010100000aZ'))],
  signs: ['there is a sign', 'X.680 §46', until(utcTime('+70101000000Z'))],
  blanks: ['there is a blank', 'X.680 §46', until(utcTime('27 101000000Z'))],
  empty: ['a time is empty', 'X.680 §46', until(utcTime(''))],
  integer: ['a time is an INTEGER', TIME, until(int(1))],
  'small-z': ['Z is small', 'X.690 §11.8.1', until(utcTime('270101000000z'))],
  'three-times': ['there are three times', TIME, { validity: seq(BEGIN, END, END) }],
  'one-time': ['there is one time', TIME, { validity: seq(BEGIN) }],
};

const FIELDS: Table<CertificateDer> = {
  plain: ['', VERSION, {}],
  'version-1': [
    'it is of version 1, which knows no CAs',
    VERSION,
    { version: [], extensionField: [] },
  ],
  'version-1-written': [
    'version 1 is written, which is the default',
    'X.690 §11.5',
    { version: explicit(0, int(0)), extensionField: [] },
  ],
  'version-1-extensions': ['it is of version 1 and has extensions', VERSION, { version: [] }],
  'version-2': ['it is of version 2', VERSION, { version: explicit(0, int(1)) }],
  'version-4': ['it is of version 4', VERSION, { version: explicit(0, int(3)) }],
  'version-negative': ['the version is negative', VERSION, { version: explicit(0, int(0xff)) }],
  'version-padded': ['the version is padded', 'X.690 §8.3.2', { version: explicit(0, int(0, 2)) }],
  'version-implicit': ['the version is tagged implicitly', VERSION, { version: implicit(0, [2]) }],
  'version-two-numbers': [
    'there are two versions',
    VERSION,
    { version: explicit(0, int(2), int(2)) },
  ],
  'serial-20-octets': ['', SERIAL, serial(0x7f, ...new Uint8Array(19).fill(1))],
  'serial-21-octets': [
    'the serial number has 21 octets',
    SERIAL,
    serial(0x7f, ...new Uint8Array(20).fill(1)),
  ],
  'serial-20-and-zero': [
    'the serial number has 21 octets, the first of them 0',
    SERIAL,
    serial(0, 0xff, ...new Uint8Array(19).fill(1)),
  ],
  'serial-zero': ['the serial number is 0', SERIAL, serial(0)],
  'serial-negative': ['the serial number is negative', SERIAL, serial(0x80)],
  'serial-padded': ['the serial number is padded', 'X.690 §8.3.2', serial(0, 1)],
  'serial-padded-negative': [
    'the serial number is padded with FF',
    'X.690 §8.3.2',
    serial(0xff, 0x80),
  ],
  'serial-no-octet': ['the serial number has no octet', 'X.690 §8.3.1', serial()],
  'algorithms-differ': [
    'the inner and the outer algorithm differ',
    'RFC 5280 §4.1.1.2',
    { innerAlgorithm: RSA_SHA256 },
  ],
  'algorithms-differ-in-null': [
    'one algorithm has NULL parameters',
    'RFC 5280 §4.1.1.2',
    { innerAlgorithm: seq(oid('1.2.840.10045.4.3.2'), NULL) },
  ],
  'sha-1': [
    'the algorithm is ECDSA with SHA-1',
    'RFC 9155',
    { algorithm: seq(oid('1.2.840.10045.4.1')) },
  ],
  'unknown-algorithm': [
    'the algorithm is unknown',
    'RFC 5280 §4.1.1.2',
    { algorithm: seq(oid('1.2.3.4')) },
  ],
  'other-algorithm': [
    'the algorithm is one for RSA keys',
    'RFC 5280 §4.1.1.2',
    { algorithm: RSA_SHA256 },
  ],
  'issuer-empty': ['the issuer is empty', 'RFC 5280 §4.1.2.4', { issuer: seq() }],
  'issuer-other': [
    'no CA has the name of the issuer',
    'RFC 5280 §6.1.3',
    { issuer: named('somebody') },
  ],
  'subject-empty': [
    'the subject is empty and the names are not critical',
    'RFC 5280 §4.2.1.6',
    { subject: seq() },
  ],
  'ml-dsa-65-null': [
    'the key has NULL parameters',
    'RFC 9881 §4',
    { spki: seq(seq(oid(ML_DSA_65), NULL), bits(new Uint8Array(1952))) },
  ],
  'ml-dsa-65-short': [
    'the key has 1,951 octets',
    'FIPS 204 table 2',
    { spki: seq(seq(oid(ML_DSA_65)), bits(new Uint8Array(1951))) },
  ],
  'signature-other': [
    'the signature is another’s',
    'RFC 5280 §6.1.3',
    { signature: bits(new Uint8Array(70)) },
  ],
  'signature-empty': ['there is no signature', 'RFC 5280 §4.1.1.3', { signature: bits([]) }],
  'signature-unused-bits': [
    'the signature is no whole number of octets',
    'RFC 5280 §4.1.1.3',
    { signature: bits([0x80], 7) },
  ],
  'signature-constructed': [
    'the signature is constructed',
    'X.690 §10.2',
    { signature: tlv(0x23, bits([1])) },
  ],
  'unique-ids': [
    '',
    'RFC 5280 §4.1.2.8',
    { extensionField: [...uniqueId(1), ...uniqueId(2), ...explicit(3, extensions)] },
  ],
  'unique-ids-swapped': [
    'the unique identifiers are swapped',
    'RFC 5280 §4.1',
    { extensionField: [...uniqueId(2), ...uniqueId(1), ...explicit(3, extensions)] },
  ],
  'unique-id-after': [
    'a unique identifier follows the extensions',
    'RFC 5280 §4.1',
    { extensionField: [...explicit(3, extensions), ...uniqueId(1)] },
  ],
  'field-4': [
    'there is a field [4]',
    'RFC 5280 §4.1',
    { extensionField: [...explicit(3, extensions), ...explicit(4, seq())] },
  ],
  'extensions-twice': [
    'there are two lists of extensions',
    'RFC 5280 §4.1',
    { extensionField: explicit(3, extensions, extensions) },
  ],
  'extensions-implicit': [
    'the extensions are tagged implicitly',
    'RFC 5280 §4.1',
    { extensionField: tlv(0xa3, ...LEAF_EXTENSIONS) },
  ],
  'extensions-set': [
    'the extensions are a SET',
    'RFC 5280 §4.1',
    { extensionField: explicit(3, set(...LEAF_EXTENSIONS)) },
  ],
  'no-extensions': ['', 'RFC 5280 §4.1', { extensionField: [] }],
  'key-compressed': ['the point is compressed', 'RFC 5480 §2.2', { spki: compressed() }],
  'key-x25519': ['the key is for X25519', 'RFC 8410 §3', { spki: spkiOf(privateKey('X25519')) }],
  'key-p-224': ['the curve is P-224', 'NIST SP 800-186', { spki: spkiOf(privateKey('P-224')) }],
  'key-ed25519': ['', 'RFC 8410', { spki: spkiOf(privateKey('Ed25519')) }],
  'key-rsa': ['', 'RFC 3279', { spki: spkiOf(privateKey('RSA-2048')) }],
};

function compressed(): Uint8Array {
  const point = spkiOf(privateKey('P-256')).subarray(-65);
  const x = Uint8Array.of(2 | ((point[64] ?? 0) & 1), ...point.subarray(1, 33));
  return seq(seq(oid('1.2.840.10045.2.1'), oid('1.2.840.10045.3.1.7')), bits(x));
}

/** As a whole. */
const WHOLE: Table<() => Uint8Array> = {
  nothing: ['there is not an octet', 'RFC 5280 §4.1', () => new Uint8Array()],
  'cut-off': ['the last octet is missing', 'X.690 §8.1.3', () => certificate().subarray(0, -1)],
  'trailing-octet': ['an octet follows', 'X.690 §10', () => Uint8Array.of(...certificate(), 0)],
  twice: ['it is there twice', 'X.690 §10', () => Buffer.concat([certificate(), certificate()])],
  'fourth-field': [
    'something follows the signature',
    'RFC 5280 §4.1',
    () => seq(certificate().subarray(4), NULL),
  ],
  'a-request': [
    'it is a PKCS#10 request',
    'RFC 5280 §4.1',
    () => seq(seq(int(0), seq()), ECDSA_SHA256, bits([1])),
  ],
};

export function certificateFields(): readonly Case[] {
  return [
    ...casesOf('certificate', 'time', TIMES, certificate),
    ...casesOf('certificate', 'field', FIELDS, certificate),
    ...casesOf('certificate', 'whole', WHOLE, (bytes) => bytes()),
  ];
}
