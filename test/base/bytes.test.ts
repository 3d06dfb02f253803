// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameBytes } from '#base/bytes.ts';

test('byte strings are the same when length and every octet are', () => {
  assert.ok(sameBytes(Uint8Array.of(1, 2), Buffer.from([1, 2])));
  assert.ok(sameBytes(new Uint8Array(), new Uint8Array()));
  assert.ok(!sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)));
  assert.ok(!sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 0)));
});

test('undefined is the same as nothing, not even as undefined', () => {
  assert.ok(!sameBytes(undefined, Uint8Array.of(1)));
  assert.ok(!sameBytes(Uint8Array.of(1), undefined));
  assert.ok(!sameBytes(undefined, undefined));
});
