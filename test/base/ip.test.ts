// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp, isIpv4Mapped, parseIp } from '#base/ip.ts';

/** The examples of RFC 4291 §2.2 and RFC 5952 §1, §2 and §4, with their canonical texts. */
const CANONICAL: Readonly<Record<string, string>> = {
  '10.0.0.1': '10.0.0.1',
  '255.255.255.255': '255.255.255.255',
  'ABCD:EF01:2345:6789:ABCD:EF01:2345:6789': 'abcd:ef01:2345:6789:abcd:ef01:2345:6789',
  '2001:DB8:0:0:8:800:200C:417A': '2001:db8::8:800:200c:417a',
  'FF01:0:0:0:0:0:0:101': 'ff01::101',
  '0:0:0:0:0:0:0:1': '::1',
  '0:0:0:0:0:0:0:0': '::',
  '1::': '1::',
  '0:0:0:0:0:0:13.1.68.3': '::d01:4403',
  '::FFFF:129.144.52.38': '::ffff:129.144.52.38',
  '64:ff9b::10.0.0.1': '64:ff9b::a00:1',
  '2001:db8:0:0:1:0:0:1': '2001:db8::1:0:0:1',
  '2001:0:0:1:0:0:0:1': '2001:0:0:1::1',
  '2001:db8:0:1:1:1:1:1': '2001:db8:0:1:1:1:1:1',
  '1:2:3:4:5:6:7::': '1:2:3:4:5:6:7:0',
};

for (const [text, canonical] of Object.entries(CANONICAL)) {
  test(`the canonical text of ${text} is ${canonical}`, () => {
    assert.equal(formatIp(parseIp(text) ?? Uint8Array.of()), canonical);
  });
}

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'not four numbers': ['', '1.2.3', '1.2.3.4.5', '1.2.3.', '.1.2.3', '1..2.3'],
  'a number that is no octet': ['256.0.0.1', '1.2.3.1000', '-1.2.3.4', '+1.2.3.4', '1e1.2.3.4'],
  'leading zeros of IPv4': ['01.2.3.4', '1.2.3.04', '::01.2.3.4'],
  'too many or too few groups': ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:1.2.3.4'],
  'more than one ::, or one that stands for nothing': ['1::2::3', ':::', '1:2:3:4::5:6:7:8'],
  'groups that are empty, too long or no number': [':', '1:', ':1', '12345::', 'g::', '::0x1'],
  'IPv4 elsewhere than at the end': ['1.2.3.4::', '::1.2.3.4:5', '1.2.3.4:5::'],
  'a zone, brackets, blanks, masks': ['fe80::1%eth0', '[::1]', ' ::1', '10.0.0.1 ', '10.0.0.0/8'],
};

for (const [why, texts] of Object.entries(REFUSED)) {
  test(`no address: ${why}`, () => {
    for (const text of texts) assert.equal(parseIp(text), undefined, text);
  });
}

/** By what node:net answers. */
const LENGTHS: Readonly<Record<number, number | undefined>> = { 0: undefined, 4: 4, 6: 16 };

test('it reads the texts that Node takes for an address, except zones', () => {
  const part = fc.constantFrom('0', '1', '01', '255', '256', 'ff', 'FFFF', '12345', '', '10.0.0.1');
  const text = fc
    .tuple(fc.array(part, { maxLength: 9 }), fc.constantFrom('.', ':', '::'))
    .map(([parts, by]) => parts.join(by));
  const mixed = fc.array(fc.constantFrom('0', '1', 'f', ':', '::', '.', '1.2.3.4'), {
    maxLength: 17,
  });
  const either = fc.oneof(
    text,
    mixed.map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(either, (each) => {
      const octets = parseIp(each);
      assert.equal(octets?.length, LENGTHS[isIP(each)]);
    }),
    { numRuns: 2_000 },
  );
});

test('what is formatted is read back', () => {
  const octets = [4, 16].map((length) => fc.uint8Array({ minLength: length, maxLength: length }));
  fc.assert(
    fc.property(fc.oneof(...octets), (each) => {
      assert.deepEqual(parseIp(formatIp(each) ?? ''), each);
    }),
  );
});

test('octets that are neither 4 nor 16 have no text', () => {
  for (const length of [0, 3, 5, 15, 17]) assert.equal(formatIp(new Uint8Array(length)), undefined);
});

test('only ::ffff:0:0/96 is IPv4-mapped', () => {
  for (const [text, mapped] of [
    ['::ffff:10.0.0.1', true],
    ['::ffff:0:0', true],
    ['::fffe:0:0', false],
    ['::1:ffff:0:0', false],
    ['::10.0.0.1', false],
    ['10.0.0.1', false],
  ] as const) {
    assert.equal(isIpv4Mapped(parseIp(text) ?? Uint8Array.of()), mapped, text);
  }
});
