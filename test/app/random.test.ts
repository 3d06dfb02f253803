// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPooledRandom } from '#app/random.ts';

/** A source that counts: no byte string of eight comes twice. */
function counting(): { fill: (bytes: Uint8Array) => void; draws: () => number } {
  let next = 0n;
  let draws = 0;
  return {
    draws: () => draws,
    fill: (bytes) => {
      draws += 1;
      const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let at = 0; at + 8 <= bytes.length; at += 8) words.setBigUint64(at, (next += 1n));
    },
  };
}

test('no random byte is used twice, and the source is read rarely', () => {
  const { fill, draws } = counting();
  const random = createPooledRandom(fill);
  const seen = new Set(
    Array.from({ length: 10_000 }, () => Buffer.from(random(8)).toString('hex')),
  );
  assert.equal(seen.size, 10_000);
  assert.ok(draws() < 100);
});

test('each call returns the bytes that it asks for, even more than the pool holds', () => {
  const random = createPooledRandom((bytes) => bytes.fill(1));
  for (const size of [0, 1, 4095, 4096, 4097, 100_000, 3]) {
    const bytes = random(size);
    assert.deepEqual(bytes, new Uint8Array(size).fill(1));
  }
});

test('the returned bytes are a copy', () => {
  const random = createPooledRandom((bytes) => bytes.fill(7));
  const first = random(16);
  first.fill(0);
  assert.deepEqual(random(16), new Uint8Array(16).fill(7));
});

test('an error of the source is thrown, even during a refill', () => {
  let broken = false;
  const random = createPooledRandom((bytes) => {
    bytes.fill(9, 0, 8);
    if (broken) throw new Error('no entropy');
    bytes.fill(9);
  });
  random(4096);
  broken = true;
  for (let attempt = 0; attempt < 3; attempt++) assert.throws(() => random(4), /no entropy/);
  broken = false;
  assert.deepEqual(random(4), new Uint8Array(4).fill(9));
});
