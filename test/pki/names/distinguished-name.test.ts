// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { AttributeTypeAndValue } from 'pkijs';
import { encodeName, nameText } from '#pki/names/distinguished-name.ts';
import { ia5, oid, printable, rdn, seq, set, tlv, utf8 } from '../../support/pki/der.ts';
import { decodeName } from '../../support/pki/decode-name.ts';
import { refuses } from '../../support/pki/refuses.ts';

const CN = '2.5.4.3';
const O = '2.5.4.10';
const OU = '2.5.4.11';
const pair = (type: string, value: Uint8Array): Uint8Array => seq(oid(type), value);

describe('a distinguished name is read with its types, values and string types, in order', () => {
  test('in every string type', () => {
    const bmp = tlv(0x1e, Buffer.from('\u00fc', 'utf16le').swap16());
    const der = seq(
      rdn(O, utf8('\u00dcnion')),
      rdn(O, printable('b')),
      rdn('1.2.840.113549.1.9.1', ia5('a@b')),
      rdn(OU, tlv(0x14, [0xfc])),
      rdn(CN, bmp),
      rdn('2.5.4.5', tlv(0x12, Buffer.from('12 3'))),
    );
    const { attributes, raw } = decodeName(der);
    assert.deepEqual(Buffer.from(raw), Buffer.from(der));
    assert.deepEqual(
      attributes.map(({ oid: type, value, stringType }) => [type, value, stringType]),
      [
        [O, '\u00dcnion', 'UTF8String'],
        [O, 'b', 'PrintableString'],
        ['1.2.840.113549.1.9.1', 'a@b', 'IA5String'],
        [OU, '\u00fc', 'TeletexString'],
        [CN, '\u00fc', 'BMPString'],
        ['2.5.4.5', '12 3', 'NumericString'],
      ],
    );
  });

  test('with every character, including a byte order mark', () => {
    const der = seq(rdn(CN, utf8('\ufeffjane')), rdn(O, tlv(0x1e, [0xfe, 0xff, 0, 0x61])));
    assert.deepEqual(
      decodeName(der).attributes.map(({ value }) => value),
      ['\ufeffjane', '\ufeffa'],
    );
  });

  test('even if it is empty', () => {
    assert.deepEqual(decodeName(seq()).attributes, []);
    assert.deepEqual(decodeName(seq()).problems, []);
  });
});

describe('a distinguished name that parsers read differently is reported as a problem', () => {
  const rows: Readonly<Record<string, readonly [Uint8Array, RegExp | undefined]>> = {
    'one of each': [seq(rdn(O, utf8('a')), rdn(OU, utf8('b')), rdn(CN, utf8('c'))), undefined],
    'several organizations': [seq(rdn(O, utf8('a')), rdn(O, utf8('b'))), undefined],
    'several organizations in one relative name, as Go writes them': [
      seq(set(pair(O, utf8('a')), pair(O, utf8('b')))),
      undefined,
    ],
    'two types in one relative name': [
      seq(set(pair(CN, utf8('a')), pair(O, utf8('b')))),
      /several types/,
    ],
    'two common names': [seq(rdn(CN, utf8('a')), rdn(CN, utf8('b'))), /CN twice/],
    'two of a type that has no name': [
      seq(rdn('1.2.3', utf8('a')), rdn('1.2.3', utf8('b'))),
      /1\.2\.3 twice/,
    ],
    'two common names in one relative name': [
      seq(set(pair(CN, utf8('a')), pair(CN, utf8('b')))),
      /CN twice/,
    ],
    'a TeletexString': [seq(rdn(CN, tlv(0x14, [0x61]))), /TeletexString/],
    'a BMPString': [seq(rdn(CN, tlv(0x1e, [0, 0x61]))), /BMPString/],
    'an empty value': [seq(rdn(CN, utf8(''))), /empty CN/],
    'an empty unit': [seq(rdn(OU, utf8(''))), /empty OU/],
    'an empty organization, which requests are read without': [seq(rdn(O, utf8(''))), undefined],
    'a NUL': [seq(rdn(CN, utf8('a\0b'))), /control character/],
    'a line feed': [seq(rdn(O, utf8('a\nb'))), /control character in O/],
  };
  for (const [name, [der, problem]] of Object.entries(rows)) {
    test(`${name}: ${problem === undefined ? 'no' : 'yes'}`, () => {
      const { problems } = decodeName(der);
      if (problem === undefined) assert.deepEqual(problems, []);
      else assert.match(problems.join('; '), problem);
    });
  }
});

describe('a distinguished name is encoded', () => {
  const parts = {
    organizations: ['b-team', '\u00dcnion'],
    organizationalUnits: ['x'],
    commonName: 'a@b',
  };

  test('as asn1js encodes it, byte for byte', () => {
    // pkijs' own Name puts everything into one unsorted SET, so only its attributes are used.
    const relative = (type: string, value: AttributeTypeAndValue['value']): asn1js.Set =>
      new asn1js.Set({ value: [new AttributeTypeAndValue({ type, value }).toSchema()] });
    const oracle = new asn1js.Sequence({
      value: [
        relative(O, new asn1js.PrintableString({ value: 'b-team' })),
        relative(O, new asn1js.Utf8String({ value: '\u00dcnion' })),
        relative(OU, new asn1js.PrintableString({ value: 'x' })),
        relative(CN, new asn1js.Utf8String({ value: 'a@b' })),
      ],
    });
    assert.deepEqual(Buffer.from(encodeName(parts)), Buffer.from(oracle.toBER()));
  });

  test('with organizations first and the common name last', () => {
    const { attributes } = decodeName(encodeName(parts));
    assert.deepEqual(
      attributes.map(({ value }) => value),
      ['b-team', '\u00dcnion', 'x', 'a@b'],
    );
  });

  test('as the empty SEQUENCE if it has no attributes', () => {
    const empty = encodeName({ organizations: [], organizationalUnits: [], commonName: '' });
    assert.deepEqual([...empty], [0x30, 0]);
  });

  for (const value of ['a\0b', 'a\nb', '\u0085', '\ud800']) {
    test(`not with ${JSON.stringify(value)}`, () => {
      const bad = { ...parts, commonName: value };
      refuses(() => encodeName(bad), 'NAME_INVALID', /CN/);
    });
  }
  test('not with an empty organization', () => {
    refuses(() => encodeName({ ...parts, organizations: [''] }), 'NAME_INVALID', /O is empty/);
  });
});

test('an encoded distinguished name is decoded again, without problems', () => {
  const value = fc
    .string({ minLength: 1, maxLength: 64, unit: 'grapheme' })
    .filter((text) => !/\p{Cc}|\p{Cs}/u.test(text));
  const unique = fc.uniqueArray(value, { maxLength: 5 });
  fc.assert(
    fc.property(unique, unique, value, (organizations, organizationalUnits, commonName) => {
      const name = decodeName(encodeName({ organizations, organizationalUnits, commonName }));
      assert.deepEqual(name.problems, []);
      const values = (type: string): readonly string[] =>
        name.attributes.filter((each) => each.oid === type).map((each) => each.value);
      assert.deepEqual(values(O), organizations);
      assert.deepEqual(values(OU), organizationalUnits);
      assert.deepEqual(values(CN), [commonName]);
    }),
  );
});

describe('a distinguished name as text fits on one line of a log', () => {
  const rows: Readonly<Record<string, readonly [Uint8Array, string]>> = {
    'last first': [seq(rdn(O, utf8('a')), rdn(CN, utf8('b'))), 'CN=b,O=a'],
    'unknown types by number': [seq(rdn('1.2.3', utf8('a'))), '1.2.3=a'],
    'separators escaped': [seq(rdn(CN, utf8('a,O=b+c'))), 'CN=a\\,O=b\\+c'],
    'blanks at the ends escaped': [seq(rdn(CN, utf8(' a '))), 'CN=\\ a\\ '],
    'controls as hex': [seq(rdn(CN, utf8('a\n\0b'))), 'CN=a\\0a\\00b'],
    'nothing for the empty name': [seq(), ''],
  };
  for (const [name, [der, text]] of Object.entries(rows)) {
    test(name, () => {
      const found = nameText(decodeName(der));
      assert.equal(found, text);
    });
  }
});
