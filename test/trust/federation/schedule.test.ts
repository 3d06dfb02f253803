// SPDX-License-Identifier: Apache-2.0
/** SPIFFE Federation §4.1; SPIFFE Trust Domain and Bundle §4.1.2. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondsToNextFetch } from '#trust/federation/schedule.ts';

const pace = { shortestSeconds: 60, keepSeconds: 86_400 };

test('the next look is when the refresh hint says, or in five minutes, within an hour', () => {
  assert.equal(secondsToNextFetch(600, 0, pace), 600);
  assert.equal(secondsToNextFetch(undefined, 0, pace), 300);
  assert.equal(secondsToNextFetch(0, 0, pace), 60);
  assert.equal(secondsToNextFetch(Number.MAX_VALUE, 0, pace), 3600);
});

test('a bundle is looked at four times before it would be dropped', () => {
  assert.equal(secondsToNextFetch(3600, 0, { ...pace, keepSeconds: 1200 }), 300);
});

test('after a failed look the next comes soon, then later, never later than usual', () => {
  const waits = [1, 2, 3, 4, 5, 60].map((failures) => secondsToNextFetch(600, failures, pace));
  assert.deepEqual(waits, [60, 120, 240, 480, 600, 600]);
  assert.equal(secondsToNextFetch(1, 9, pace), 60);
});
