// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DerReader, readWhole } from '#pki/der/der-reader.ts';
import { int, octets, seq, tlv, tlvWithLength, utf8 } from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

/** A view that counts how often an octet of it, or of its views, is looked at. */
function counted(bytes: Uint8Array, count: { reads: number }): Uint8Array {
  return new Proxy(bytes, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) count.reads += 1;
      if (key === 'subarray') {
        return (start: number, end: number) => counted(target.subarray(start, end), count);
      }
      return Reflect.get(target, key, target) as unknown;
    },
  });
}

/** Goes through everything, as the most curious caller would. */
function walk(reader: DerReader): number {
  let elements = 0;
  while (!reader.isDone()) {
    elements += 1;
    if (reader.peek() === 0x30) elements += walk(reader.sequence('a list'));
    else reader.raw('an element');
  }
  return elements;
}

describe('the cost of reading grows linearly with the input', () => {
  const shapes: Readonly<Record<string, (n: number) => Uint8Array>> = {
    'many small elements': (n) => seq(...Array.from({ length: n }, () => int(1))),
    'many lists': (n) => seq(...Array.from({ length: n }, () => seq(int(1), utf8('abc')))),
    'one long element': (n) => seq(octets(new Uint8Array(n * 5))),
  };
  for (const [name, shape] of Object.entries(shapes)) {
    test(name, () => {
      const [one, two, four] = [1_000, 2_000, 4_000].map((n) => {
        const count = { reads: 0 };
        walk(readWhole(counted(shape(n), count), 'a list', 1 << 20));
        return count.reads;
      });
      assert.ok((two ?? 0) <= 2.1 * (one ?? 0), `${two} after ${one}`);
      assert.ok((four ?? 0) <= 2.1 * (two ?? 0), `${four} after ${two}`);
    });
  }

  test('contents that are not entered are not read', () => {
    const count = { reads: 0 };
    const reader = new DerReader(counted(seq(octets(new Uint8Array(1_000_000))), count), 'a list');
    reader.raw('the list');
    assert.ok(count.reads < 20, String(count.reads));
  });
});

describe('a DER reader', () => {
  const reader = (...elements: readonly Uint8Array[]): DerReader =>
    readWhole(seq(...elements), 'the list', 1 << 20);

  test('returns the contents of elements in order', () => {
    const list = reader(int(1), utf8('two'));
    assert.deepEqual([...list.read(0x02, 'one')], [1]);
    assert.equal(Buffer.from(list.read(0x0c, 'two')).toString(), 'two');
    assert.equal(list.isDone(), true);
    list.finish();
  });
  test('names the missing element', () => {
    refuses(() => reader().read(0x02, 'the answer'), 'DER_MALFORMED', /the answer is missing/);
  });
  test('names the element that has another tag', () => {
    refuses(
      () => reader(int(1)).read(0x0c, 'the answer'),
      'DER_MALFORMED',
      /the answer has tag 0x02/,
    );
  });
  test('reports trailing elements', () => {
    refuses(() => reader(int(1)).finish(), 'DER_MALFORMED', /the list has trailing bytes/);
  });
  test('refuses tag numbers above 30', () => {
    refuses(() => reader(tlv(0x1f, [1])).raw('x'), 'DER_MALFORMED', /above 30/);
  });
  test('refuses an element that is longer than its container', () => {
    const liar = tlvWithLength(0x30, [3], [0x04, 5, 1]);
    refuses(
      () => readWhole(liar, 'x', 99).raw('it'),
      'DER_MALFORMED',
      /longer than the element that holds it/,
    );
  });
  test('refuses an input above its limit without reading it', () => {
    refuses(() => readWhole(new Uint8Array(100), 'x', 99), 'DER_LIMIT', /100 bytes, more than 99/);
  });
});

describe('a length octet is refused', () => {
  const rows: Readonly<Record<string, readonly [readonly number[], RegExp]>> = {
    'that is indefinite': [[0x80], /indefinite/],
    'in the long form below 128': [[0x81, 0x7f], /not minimal/],
    'with a leading zero octet': [[0x82, 0, 0x80], /not minimal/],
    'of five octets': [[0x85, 0, 0, 0, 0, 1], /length field of more than 4 octets/],
    'of 127 octets': [[0xff], /length field of more than 4 octets/],
    'that is cut off': [[0x82, 1], /cut off/],
  };
  for (const [name, [length, message]] of Object.entries(rows)) {
    test(name, () => {
      const bytes = tlvWithLength(0x04, length, []);
      refuses(() => new DerReader(bytes, 'x').raw('it'), 'DER_MALFORMED', message);
    });
  }
});

test('an element with a minimal length is read without a copy', () => {
  const sizes = fc.constantFrom(0, 1, 127, 128, 255, 256, 65_535, 65_536, 70_000);
  fc.assert(
    fc.property(sizes, (size) => {
      const bytes = tlv(0x04, new Uint8Array(size));
      const contents = new DerReader(bytes, 'x').read(0x04, 'it');
      assert.equal(contents.length, size);
      assert.equal(contents.buffer, bytes.buffer);
    }),
  );
});
