// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { refreshTime, type Validity } from '#ca/issuance/validity.ts';
import type { Random } from '#base/ports.ts';

const START = Date.UTC(2026, 10, 21, 6);
const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Dice of four bytes of which the first is this: `value / 256` of the jitter. */
const dice =
  (value: number): Random =>
  () =>
    Uint8Array.of(value, 0, 0, 0);

const day: Validity = { notBefore: START, notAfter: START + 24 * HOUR };

test('without jitter the refresh is due after the configured share of the lifetime', () => {
  assert.equal(refreshTime(day, 50, dice(0)), START + 12 * HOUR);
  assert.equal(refreshTime(day, 66, dice(0)), START + 15.84 * HOUR);
});

test('jitter delays the refresh by at most a twentieth of the lifetime, never advances', () => {
  const spread = (value: number): number => refreshTime(day, 50, dice(value)) - START - 12 * HOUR;
  assert.equal(spread(0x80), 36 * MINUTE);
  assert.ok(spread(0xff) < 72 * MINUTE && spread(0xff) > 71 * MINUTE);
});

test('a leaf of one hour is refreshed between its tenth and its fiftieth minute', () => {
  const hour = { notBefore: START, notAfter: START + HOUR };
  assert.equal(refreshTime(hour, 1, dice(0)), START + 10 * MINUTE);
  assert.equal(refreshTime(hour, 50, dice(0)), START + 30 * MINUTE);
  assert.equal(refreshTime(hour, 99, dice(0xff)), START + 50 * MINUTE);
});

test('a refresh is ten minutes from both ends, in whole seconds, in every case', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4_000_000_000 }),
      fc.integer({ min: 3_600, max: 7_862_400 }),
      fc.oneof(fc.integer({ min: 1, max: 99 }), fc.double({ min: 0, max: 1_000, noNaN: true })),
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      (begin, lifetime, percent, bytes) => {
        const validity = { notBefore: begin * 1000, notAfter: (begin + lifetime) * 1000 };
        const refresh = refreshTime(validity, percent, () => bytes);
        assert.ok(Number.isInteger(refresh / 1000));
        assert.ok(refresh >= validity.notBefore + 10 * MINUTE);
        assert.ok(refresh <= validity.notAfter - 10 * MINUTE);
      },
    ),
    { numRuns: 2_000 },
  );
});
