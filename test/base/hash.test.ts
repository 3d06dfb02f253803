// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fnv1a } from '#base/hash.ts';

/** From the authors' test suite (test_fnv.c, fnv1a_32). */
const VECTORS: readonly [text: string, hash: number][] = [
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['b', 0xe70c2de5],
  ['foo', 0xa9f37ed7],
  ['foobar', 0xbf9cf968],
];

for (const [text, hash] of VECTORS) {
  test(`FNV-1a of "${text}" is ${hash.toString(16)}`, () => {
    assert.equal(fnv1a(text), hash);
  });
}

test('another seed gives other hashes', () => {
  assert.notEqual(fnv1a('foobar', 1), fnv1a('foobar', 2));
  assert.equal(fnv1a('foobar', 0), fnv1a('foobar'));
});
