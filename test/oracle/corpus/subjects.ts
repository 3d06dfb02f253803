// SPDX-License-Identifier: Apache-2.0
import { int, ia5, oid, printable, rdn, seq, set, tlv, utf8 } from '../../support/pki/der.ts';
import { COMMON_NAME, ORGANIZATION, certificate, request } from './bases.ts';
import { casesOf, type Case, type Table } from './case.ts';

const NAME = 'RFC 5280 §4.1.2.4';
const STRINGS = 'X.680 §41';

const cn = (value: Uint8Array): Uint8Array => seq(rdn(COMMON_NAME, value));
const attribute = (type: string, value: string): Uint8Array => seq(oid(type), utf8(value));

/** Names that neither a request nor a certificate may have. */
const NAMES: Table<Uint8Array> = {
  several: [
    '',
    NAME,
    seq(
      rdn('2.5.4.6', printable('DE')),
      rdn(ORGANIZATION, utf8('é')),
      rdn(COMMON_NAME, printable('a')),
    ),
  ],
  'organizations-in-one': [
    '',
    'X.690 §11.6',
    seq(set(attribute(ORGANIZATION, 'a'), attribute(ORGANIZATION, 'b'))),
  ],
  'ia5-domain-components': [
    '',
    'RFC 4519 §2.4',
    seq(rdn('0.9.2342.19200300.100.1.25', ia5('example'))),
  ],
  'unsorted-set': [
    'a relative name is not in ascending order',
    'X.690 §11.6',
    seq(set(attribute(ORGANIZATION, 'b'), attribute(ORGANIZATION, 'a'))),
  ],
  'empty-set': ['a relative name has no attribute', 'X.501 §9.3', seq(set())],
  'sequence-for-set': [
    'a relative name is a SEQUENCE',
    NAME,
    seq(seq(attribute(COMMON_NAME, 'a'))),
  ],
  'no-value': ['an attribute has no value', NAME, seq(set(seq(oid(COMMON_NAME))))],
  'two-values': [
    'an attribute has two values',
    NAME,
    seq(set(seq(oid(COMMON_NAME), utf8('a'), utf8('b')))),
  ],
  'integer-value': ['a name is an INTEGER', NAME, cn(int(1))],
  'sequence-value': ['a name is a SEQUENCE', NAME, cn(seq(utf8('a')))],
  'octets-value': ['a name is an OCTET STRING', NAME, cn(tlv(0x04, [0x61]))],
  'constructed-string': ['a string is constructed', 'X.690 §10.2', cn(tlv(0x2c, utf8('a')))],
  'utf8-cut': ['a UTF8String ends in the middle of a character', STRINGS, cn(tlv(0x0c, [0xc3]))],
  'utf8-overlong': [
    'a UTF8String holds an overlong NUL',
    'RFC 3629 §3',
    cn(tlv(0x0c, [0xc0, 0x80])),
  ],
  'utf8-surrogate': [
    'a UTF8String holds half a surrogate pair',
    'RFC 3629 §3',
    cn(tlv(0x0c, [0xed, 0xa0, 0x80])),
  ],
  'utf8-beyond': [
    'a UTF8String holds a character above 10FFFF',
    'RFC 3629 §3',
    cn(tlv(0x0c, [0xf5, 0x80, 0x80, 0x80])),
  ],
  'printable-at': ['a PrintableString holds @', STRINGS, cn(printable('a@b'))],
  'printable-underscore': ['a PrintableString holds _', STRINGS, cn(printable('a_b'))],
  'printable-nul': ['a PrintableString holds NUL', STRINGS, cn(printable('a\0b'))],
  'ia5-high': ['an IA5String holds an octet above 127', STRINGS, cn(tlv(0x16, [0xe9]))],
  'numeric-letter': ['a NumericString holds a letter', STRINGS, cn(tlv(0x12, [0x61]))],
  'bmp-odd': [
    'a BMPString has an odd number of octets',
    STRINGS,
    cn(tlv(0x1e, [0x00, 0x61, 0x00])),
  ],
  'bmp-surrogate': [
    'a BMPString holds half a surrogate pair',
    STRINGS,
    cn(tlv(0x1e, [0xd8, 0x00])),
  ],
  universal: ['a UniversalString, which no parser reads', STRINGS, cn(tlv(0x1c, [0, 0, 0, 0x61]))],
  visible: ['a VisibleString, which no Name may be', NAME, cn(tlv(0x1a, [0x61]))],
  'general-string': ['a GeneralString, which no Name may be', NAME, cn(tlv(0x1b, [0x61]))],
  'type-cut': [
    'the type ends in the middle of an arc',
    'X.690 §8.19.2',
    seq(set(seq(tlv(0x06, [0x55, 0x84]), utf8('a')))),
  ],
  'type-padded': [
    'an arc of the type is padded',
    'X.690 §8.19.2',
    seq(set(seq(tlv(0x06, [0x55, 0x04, 0x80, 0x03]), utf8('a')))),
  ],
  'type-empty': ['the type has no octet', 'X.690 §8.19.2', seq(set(seq(tlv(0x06), utf8('a'))))],
  'type-huge': [
    'the type has 254,000 octets (asn1js #148)',
    'own limit',
    seq(set(seq(tlv(0x06, new Uint8Array(254_000).fill(1)), utf8('a')))),
  ],
  'ten-thousand': [
    'there are 10,000 attributes',
    'own limit',
    seq(...Array.from({ length: 10_000 }, () => rdn(ORGANIZATION, utf8('a')))),
  ],
};

/** Names that a request may not have; a CA's own name is what it is. */
const REQUESTED: Table<Uint8Array> = {
  none: ['', NAME, seq()],
  'two-common-names': [
    'there are two common names',
    NAME,
    seq(rdn(COMMON_NAME, utf8('a')), rdn(COMMON_NAME, utf8('b'))),
  ],
  'mixed-set': [
    'a relative name has attributes of several types',
    NAME,
    seq(set(attribute(COMMON_NAME, 'a'), attribute(ORGANIZATION, 'a'))),
  ],
  'empty-value': ['a common name is empty', 'RFC 5280 appendix A.1', cn(utf8(''))],
  nul: ['a common name holds NUL (CVE-2009-2408)', NAME, cn(utf8('a\0b'))],
  newline: ['a common name holds a newline', NAME, cn(utf8('a\nCN=b'))],
  delete: ['a common name holds DEL', NAME, cn(utf8('a\x7f'))],
  'c1-control': ['a common name holds a C1 control character', NAME, cn(utf8('a\u0085b'))],
  bidi: [
    'an organization holds a right-to-left mark',
    'Unicode TR36 §2.5',
    seq(rdn(ORGANIZATION, utf8('a\u202eb'))),
  ],
  'zero-width': [
    'an organization holds a zero-width space',
    'Unicode TR36 §2.5',
    seq(rdn(ORGANIZATION, utf8('system:\u200bmasters'))),
  ],
  'leading-blank': ['a common name begins with a blank', 'RFC 4514 §2.4', cn(utf8(' a'))],
  'trailing-blank': [
    'an organization ends with a blank',
    'RFC 4514 §2.4',
    seq(rdn(ORGANIZATION, utf8('a '))),
  ],
  teletex: ['a TeletexString, which readers read differently', NAME, cn(tlv(0x14, [0x61]))],
  bmp: ['a BMPString, which readers read differently', NAME, cn(tlv(0x1e, [0x00, 0x61]))],
};

export function subjects(): readonly Case[] {
  const inRequest = (subject: Uint8Array): Uint8Array => request({ subject });
  return [
    ...casesOf('request', 'subject', NAMES, inRequest),
    ...casesOf('certificate', 'subject', NAMES, (subject) => certificate({ subject })),
    ...casesOf('request', 'requested-subject', REQUESTED, inRequest),
  ];
}
