// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { inShortOrLong } from './length.ts';
import { newSerial } from '#ca/issuance/signing-ca.ts';

const count = inShortOrLong(100_000, 1_000_000);

/** A 20th octet with its top bit set would need a 21st (RFC 5280 §4.1.2.2). */
const MAX_BYTES = 19;

test(`${count} serial numbers are unique, positive and of 19 octets at most`, () => {
  const seen = new Set<string>();
  for (let i = 0; i < count; i++) {
    const serial = newSerial((size) => randomBytes(size));
    const [first = 0] = serial;
    assert.ok(first > 0 && first < 0x80 && serial.length <= MAX_BYTES);
    seen.add(Buffer.from(serial).toString('latin1'));
  }
  assert.equal(seen.size, count);
});
