// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffDelay } from '../../../src/kube/wait/backoff.ts';
import { createRateLimiter } from '../../../src/kube/workqueue/rate-limiter.ts';
import { createReservations, createTokenBucket } from '../../../src/kube/workqueue/token-bucket.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';

const least = (size: number): Uint8Array => new Uint8Array(size);
const most = (size: number): Uint8Array => new Uint8Array(size).fill(0xff);

test('a delay doubles with each failure up to its limit', () => {
  const init = { firstMs: 5, maxMs: 1_000_000, random: least };
  const delays = [0, 1, 2, 10, 17, 18, 40, 2_000].map((failures) => backoffDelay(failures, init));
  assert.deepEqual(delays, [5, 10, 20, 5_120, 655_360, 1_000_000, 1_000_000, 1_000_000]);
});

test('chance adds up to a half, and never anything else', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.uint8Array({ minLength: 4, maxLength: 4 }), (failures, bytes) => {
      const base = backoffDelay(failures, { firstMs: 800, maxMs: 30_000, random: least });
      const delay = backoffDelay(failures, { firstMs: 800, maxMs: 30_000, random: () => bytes });
      assert.ok(delay >= base && delay < base * 1.5, `${delay} for ${base}`);
    }),
  );
  assert.ok(backoffDelay(0, { firstMs: 800, maxMs: 30_000, random: most }) > 1_199);
});

test('a limiter counts the failures of each item by itself, until it is forgotten', () => {
  const limiter = createRateLimiter({ firstMs: 5, maxMs: 1_000, random: least });
  assert.deepEqual(
    [
      limiter.nextDelay('a'),
      limiter.nextDelay('a'),
      limiter.nextDelay('b'),
      limiter.nextDelay('a'),
    ],
    [5, 10, 5, 20],
  );
  assert.equal(limiter.failures('a'), 3);
  limiter.forget('a');
  assert.equal(limiter.failures('a'), 0);
  assert.equal(limiter.nextDelay('a'), 5);
});

test('a bucket lets a burst through, and then what the rate allows', async () => {
  const time = fakeTime();
  const allowed = createTokenBucket({ burst: 3, perSecond: 10, clock: time.clock });
  assert.deepEqual([1, 2, 3, 4].map(allowed), [true, true, true, false]);
  await time.advance(100);
  assert.deepEqual([1, 2].map(allowed), [true, false]);
  await time.advance(60_000);
  assert.deepEqual([1, 2, 3, 4].map(allowed), [true, true, true, false]);
});

test('together they come back at a rate, however many failed; each its own wait at least', async () => {
  const time = fakeTime();
  const overall = { burst: 2, perSecond: 10, clock: time.clock };
  const limiter = createRateLimiter({ firstMs: 5, maxMs: 1_000, random: least, overall });
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((key) => limiter.nextDelay(key)),
    [5, 5, 100, 200, 300],
  );
  for (let other = 0; other < 1_000; other += 1) limiter.nextDelay(`other-${other}`);
  assert.equal(limiter.nextDelay('f'), 1_000, 'no longer than its own failures could make it wait');
  await time.advance(200_000);
  assert.equal(limiter.nextDelay('g'), 5);
});

test('a place in a line is as far away as there are others in it', async () => {
  const time = fakeTime();
  const reserve = createReservations({ burst: 1, perSecond: 4, clock: time.clock });
  assert.deepEqual([1, 2, 3].map(reserve), [0, 250, 500]);
  await time.advance(500);
  assert.equal(reserve(), 250);
});

test('a clock that was set back neither fills nor empties a bucket', () => {
  let now = 1_000_000;
  const allowed = createTokenBucket({ burst: 2, perSecond: 1, clock: () => now });
  assert.equal(allowed(), true);
  now = 0;
  assert.deepEqual([1, 2].map(allowed), [true, false]);
  now = 1_000;
  assert.equal(allowed(), true);
});
