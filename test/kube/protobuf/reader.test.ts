// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageReader } from '#kube/protobuf/reader.ts';
import { bytesField, integerField, message, stringField } from '#kube/protobuf/writer.ts';

function reader(hex: string): MessageReader {
  return new MessageReader(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

/** protobuf.dev, Encoding: "A Simple Message", "Length-Delimited Records", "Signed Integers". */
const VECTORS: readonly [hex: string, field: number, value: number | string][] = [
  ['08 96 01', 1, 150],
  ['12 07 74 65 73 74 69 6e 67', 2, 'testing'],
  ['08 fe ff ff ff ff ff ff ff ff 01', 1, -2],
  ['08 ff ff ff ff ff ff ff ff 7f', 1, Number(2n ** 63n - 1n)],
];

for (const [hex, field, value] of VECTORS) {
  test(`${hex} is ${value} in field ${field}`, () => {
    const fields = reader(hex);
    assert.equal(fields.next(), field);
    assert.equal(typeof value === 'number' ? fields.integer() : fields.string(), value);
    assert.equal(fields.next(), 0);
  });
}

test('unknown fields of every wire type are skipped', () => {
  const fields = reader('08 96 01  11 01 02 03 04 05 06 07 08  1a 02 aa bb  25 01 02 03 04  28 07');
  for (const field of [1, 2, 3, 4]) {
    assert.equal(fields.next(), field);
    fields.skip();
  }
  assert.equal(fields.next(), 5);
  assert.equal(fields.integer(), 7);
});

const REFUSED: readonly [why: string, hex: string][] = [
  ['a varint is cut off', '08 96'],
  ['a varint of eleven octets', '08 80 80 80 80 80 80 80 80 80 80 01'],
  ['a value is longer than its message', '0a 05 61'],
  ['a fixed value is cut off', '0d 01 02'],
  ['a length is negative', '0a ff ff ff ff ff ff ff ff ff 01'],
  ['a length is beyond any message', '0a ff ff ff ff ff ff ff 7f'],
  ['field number 0', '00 01'],
  ['a group', '0b 0c'],
];

for (const [why, hex] of REFUSED) {
  test(`refused: ${why}`, () => {
    const fields = reader(hex);
    assert.throws(() => {
      while (fields.next() !== 0) fields.skip();
    }, SyntaxError);
  });
}

test('a nested message ends at its declared length', () => {
  for (const inside of [
    '0a 02 0a 05 61 61 61 61 61 61',
    '0a 01 08 07 07',
    '0a 01 0d 01 02 03 04',
  ]) {
    const fields = reader(inside);
    fields.next();
    const inner = fields.message();
    assert.throws(() => {
      while (inner.next() !== 0) inner.skip();
    }, SyntaxError);
  }
});

test('a field read as another wire type is refused', () => {
  const number = reader('08 01');
  number.next();
  assert.throws(() => number.string(), SyntaxError);
  const text = reader('0a 01 61');
  text.next();
  assert.throws(() => text.integer(), SyntaxError);
});

test('for any input the reader ends with the fields or a SyntaxError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const fields = new MessageReader(bytes);
      try {
        for (let seen = 0; fields.next() !== 0; seen++) {
          assert.ok(seen <= bytes.length);
          fields.skip();
        }
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
      }
    }),
  );
});

test('encoded fields are read back', () => {
  const field = fc.integer({ min: 1, max: 2 ** 20 });
  const values = fc.tuple(fc.nat(Number.MAX_SAFE_INTEGER), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(field, values, fc.uint8Array(), (number, [integer, text], bytes) => {
      const fields = new MessageReader(
        message(integerField(number, integer), stringField(number, text), bytesField(1, bytes)),
      );
      assert.deepEqual([fields.next(), fields.integer()], [number, integer]);
      assert.deepEqual([fields.next(), fields.string()], [number, text]);
      assert.equal(fields.next(), 1);
      assert.deepEqual(Uint8Array.from(fields.bytes()), bytes);
    }),
  );
});
