// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ErrorCode } from '#base/errors.ts';
import { DerReader } from '#pki/der/der-reader.ts';
import { readValidityTime } from '#pki/der/der-time.ts';
import {
  booleanOf,
  checkInteger,
  namedBits,
  oidOf,
  smallInteger,
  wholeBytes,
} from '#pki/der/der-values.ts';
import * as writer from '#pki/der/der-writer.ts';
import { base128 } from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

const at = (octets: readonly number[]): Uint8Array => Uint8Array.from(octets);
const contentsOf = (der: Uint8Array, tag: number): Uint8Array =>
  new DerReader(der, 'a value').read(tag, 'a value');

type Refusal = readonly [() => unknown, ErrorCode, RegExp];
const M = 'DER_MALFORMED';

const REFUSED: Readonly<Record<string, Refusal>> = {
  'an empty INTEGER': [() => checkInteger(at([]), 'x'), M, /empty/],
  'an INTEGER with a zero before': [() => checkInteger(at([0, 0x7f]), 'x'), M, /minimal/],
  'an INTEGER with a sign before': [() => checkInteger(at([0xff, 0x80]), 'x'), M, /minimal/],
  'a negative small INTEGER': [() => smallInteger(at([0x80]), 'x', 9), M, /negative/],
  'a small INTEGER above its bound': [() => smallInteger(at([10]), 'x', 9), M, /more than 9/],
  'a small INTEGER of many bytes': [
    () => smallInteger(new Uint8Array(1e6).fill(1), 'x', 9),
    M,
    /more than 9/,
  ],
  'an empty BOOLEAN': [() => booleanOf(at([]), 'x'), M, /BOOLEAN/],
  'a BOOLEAN of 01': [() => booleanOf(at([1]), 'x'), M, /neither 00 nor ff/],
  'a BOOLEAN of two bytes': [() => booleanOf(at([0xff, 0]), 'x'), M, /BOOLEAN/],
  'an empty BIT STRING': [() => wholeBytes(at([]), 'x'), M, /empty/],
  'a BIT STRING of half bytes': [() => wholeBytes(at([4, 0xf0]), 'x'), M, /whole/],
  'named bits without a first octet': [() => namedBits(at([]), 'x'), M, /./],
  'named bits with 8 unused bits': [() => namedBits(at([8, 0x80]), 'x'), M, /./],
  'no named bits with unused bits': [() => namedBits(at([1]), 'x'), M, /./],
  'named bits with padding that is set': [() => namedBits(at([7, 0x81]), 'x'), M, /unused bits/],
  'an empty OID': [() => oidOf(at([]), 'x'), M, /ends in the middle/],
  'an OID that ends within an arc': [() => oidOf(at([0x2a, 0x86]), 'x'), M, /ends in the middle/],
  'an OID arc with a zero before': [() => oidOf(at([0x2a, 0x80, 1]), 'x'), M, /minimal/],
  'an OID of 129 bytes': [() => oidOf(new Uint8Array(129).fill(1), 'x'), 'DER_LIMIT', /128 bytes/],
  'an OID with 22 arcs': [() => oidOf(new Uint8Array(21).fill(1), 'x'), 'DER_LIMIT', /20 arcs/],
  'an OID arc of 2³¹': [
    () => oidOf(at([0x2a, ...base128(2 ** 31)]), 'x'),
    'DER_LIMIT',
    /2147483647/,
  ],
  'an OID arc of 2³² + 3': [
    () => oidOf(at([0x55, 4, ...base128(2 ** 32 + 3)]), 'x'),
    'DER_LIMIT',
    /arc/,
  ],
  'an OID arc of 128 bytes': [
    () => oidOf(at([...new Array<number>(127).fill(0xff), 0x7f]), 'x'),
    'DER_LIMIT',
    /arc/,
  ],
};

describe('a value in any form but its one DER form is refused', () => {
  for (const [name, [run, code, message]] of Object.entries(REFUSED)) {
    test(name, () => refuses(run, code, message));
  }
});

test('OIDs are written and read', () => {
  const arc = fc.nat(2 ** 31 - 1);
  const below40 = fc.tuple(fc.constantFrom(0, 1), fc.nat(39));
  const under2 = fc.tuple(fc.constant(2), fc.nat(2 ** 31 - 81));
  fc.assert(
    fc.property(fc.oneof(below40, under2), fc.array(arc, { maxLength: 15 }), (roots, arcs) => {
      const dotted = [...roots, ...arcs].join('.');
      assert.equal(oidOf(contentsOf(writer.oid(dotted), 0x06), 'x'), dotted);
    }),
  );
});

test('named bit lists are written and read', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(40)), (bits) => {
      const read = namedBits(contentsOf(writer.namedBitString(bits), 0x03), 'x');
      assert.deepEqual(
        read,
        bits.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('a non-negative INTEGER is written in its one form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (magnitude) => {
      const contents = checkInteger(contentsOf(writer.integer(magnitude), 0x02), 'x');
      const hex = (octets: Uint8Array): bigint =>
        BigInt(`0x0${Buffer.from(octets).toString('hex')}`);
      assert.equal(hex(contents), hex(magnitude));
      assert.ok((contents[0] ?? 0x80) < 0x80, 'never negative');
    }),
  );
});

describe('a time', () => {
  const FIRST = Date.UTC(1950, 0, 1);
  const LAST = Date.UTC(9999, 11, 31, 23, 59, 59);

  test('is written and read to the second', () => {
    const seconds = fc.integer({ min: FIRST / 1000, max: LAST / 1000 });
    fc.assert(
      fc.property(seconds, fc.nat(999), (second, millisecond) => {
        const der = writer.validityTime(second * 1000 + (second < 0 ? 0 : millisecond));
        assert.equal(readValidityTime(new DerReader(der, 'x'), 'x'), second * 1000);
      }),
    );
  });

  test('is a UTCTime until the end of 2049 and a GeneralizedTime from then on', () => {
    const border = Date.UTC(2050, 0, 1);
    assert.equal(
      Buffer.from(writer.validityTime(border - 1)).toString('latin1'),
      '\x17\r491231235959Z',
    );
    assert.equal(
      Buffer.from(writer.validityTime(border)).toString('latin1'),
      '\x18\x0f20500101000000Z',
    );
  });

  test('is refused where neither UTCTime nor GeneralizedTime can hold it', () => {
    for (const wrong of [FIRST - 1, LAST + 1000, NaN, Infinity]) {
      assert.throws(() => writer.validityTime(wrong), RangeError);
    }
  });
});
