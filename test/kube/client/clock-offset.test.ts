// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createClockOffset, type ClockOffset } from '#kube/client/clock-offset.ts';

const START = Date.UTC(2026, 10, 21);

const said = (offset: ClockOffset): number => offset.value() ?? NaN;

/** What a server with that offset puts into Date at this local moment. */
const dateAt = (local: number, offset: number): number =>
  Math.floor((local - offset) / 1_000) * 1_000;

test('the estimated offset is off by half a second plus half the round trip at most', () => {
  const answer = fc.record({
    wait: fc.integer({ min: 0, max: 60_000 }),
    there: fc.integer({ min: 0, max: 400 }),
    back: fc.integer({ min: 0, max: 400 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      fc.array(answer, { minLength: 1 }),
      (offset, answers) => {
        const seen = createClockOffset();
        let now = START;
        for (const { wait, there, back } of answers) {
          const begun = (now += wait);
          const date = dateAt((now += there), offset);
          seen.observe(date, begun, (now += back));
          assert.ok(Math.abs(said(seen) - offset) <= 500 + (there + back) / 2 + 1);
        }
      },
    ),
  );
});

test('many responses give a more precise offset than one', () => {
  const seen = createClockOffset();
  for (let now = START; now < START + 20_000; now += 130)
    seen.observe(dateAt(now, 7_321), now, now);
  assert.ok(Math.abs(said(seen) - 7_321) <= 100, String(said(seen)));
});

test('the offset follows a stepped clock at the next response', () => {
  const seen = createClockOffset();
  seen.observe(dateAt(START, 0), START, START);
  const later = START + 5_000;
  seen.observe(dateAt(later, 400_000), later, later);
  assert.ok(Math.abs(said(seen) - 400_000) <= 500);
});

test('a response during which the monotonic clock runs backwards is ignored', () => {
  const seen = createClockOffset();
  seen.observe(dateAt(START, 0), START, START - 3_600_000);
  assert.equal(seen.value(), undefined);
});

test('a response that took an hour does not move the offset', () => {
  const seen = createClockOffset();
  seen.observe(dateAt(START, 7_321), START, START);
  const before = said(seen);
  const end = START + 3_600_000;
  seen.observe(dateAt(START, 7_321), START, end);
  // The thousandth by which clocks drift, and no more.
  assert.ok(Math.abs(said(seen) - before) <= 3_600);
});
