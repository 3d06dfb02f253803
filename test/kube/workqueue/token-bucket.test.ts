// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReservations } from '#kube/workqueue/token-bucket.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';

test('a token bucket allows a burst, then the configured rate', async () => {
  const time = fakeTime();
  const reserve = createReservations({ burst: 3, perSecond: 10, clock: time.clock });
  assert.deepEqual([1, 2, 3, 4].map(reserve), [0, 0, 0, 100]);
  await time.advance(200);
  assert.deepEqual([1, 2].map(reserve), [0, 100]);
  await time.advance(60_000);
  assert.deepEqual([1, 2, 3, 4].map(reserve), [0, 0, 0, 100]);
});

test('a reservation waits for as long as those before it take at the configured rate', async () => {
  const time = fakeTime();
  const reserve = createReservations({ burst: 1, perSecond: 4, clock: time.clock });
  assert.deepEqual([1, 2, 3].map(reserve), [0, 250, 500]);
  await time.advance(500);
  assert.equal(reserve(), 250);
});

test('a clock that is set back neither fills nor empties the token bucket', () => {
  let now = 1_000_000;
  const reserve = createReservations({ burst: 2, perSecond: 1, clock: () => now });
  assert.equal(reserve(), 0);
  now = 0;
  assert.deepEqual([1, 2].map(reserve), [0, 1_000]);
  now = 1_000;
  assert.equal(reserve(), 1_000);
});
