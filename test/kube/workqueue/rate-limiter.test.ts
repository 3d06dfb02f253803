// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';

const least = (size: number): Uint8Array => new Uint8Array(size);

test('the rate limiter counts failures per item until the item is forgotten', () => {
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

test('all items share the overall rate, each after its own backoff at least', async () => {
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
