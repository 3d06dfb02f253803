// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { newSerial } from '#ca/issuance/signing-ca.ts';

const filled =
  (value: number) =>
  (size: number): Uint8Array =>
    new Uint8Array(size).fill(value);

test('a hundred thousand serial numbers are positive, of sixteen octets, and unique', () => {
  const seen = new Set<string>();
  for (let made = 0; made < 100_000; made += 1) {
    const serial = newSerial((size) => randomBytes(size));
    if (serial.length !== 16) assert.equal(serial.length, 16);
    const first = serial[0] ?? 0;
    // RFC 5280 §4.1.2.2: positive; X.690 §8.3.2: no leading octet of zeros, or DER drops it.
    if (first === 0 || first >= 0x80) assert.fail(`first octet ${first}`);
    seen.add(Buffer.from(serial).toString('hex'));
  }
  assert.equal(seen.size, 100_000);
});

test('a serial number has 126 random bits', () => {
  assert.equal(Buffer.from(newSerial(filled(0))).toString('hex'), `40${'00'.repeat(15)}`);
  assert.equal(Buffer.from(newSerial(filled(0xff))).toString('hex'), `7f${'ff'.repeat(15)}`);
});

test('the random bytes are not modified', () => {
  const bytes = new Uint8Array(16).fill(0xff);
  newSerial(() => bytes);
  assert.deepEqual(bytes, new Uint8Array(16).fill(0xff));
});

test('without randomness there is no serial number', () => {
  const failing = (): never => {
    throw new Error('no entropy');
  };
  assert.throws(() => newSerial(failing), /no entropy/);
  assert.throws(() => newSerial(() => new Uint8Array(15)), /too few bytes/);
});
