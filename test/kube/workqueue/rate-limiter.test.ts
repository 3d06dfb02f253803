// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimiter, type RateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

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

test('items without flows share the overall rate, each after its own backoff at least', async () => {
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

/** A limiter of keys `flow/…`, whose flows have 100 retries a second each. */
function flowLimiter(time: FakeTime): RateLimiter {
  return createRateLimiter({
    firstMs: 5,
    maxMs: 1_000_000,
    random: least,
    overall: { burst: 1_000, perSecond: 100, clock: time.clock },
    flowOf: (key) => key.split('/')[0] ?? '',
  });
}

test('10,000 failing keys of one flow do not delay the first retry of another flow’s', async () => {
  const time = fakeTime();
  const limiter = flowLimiter(time);
  for (let second = 0; second < 60; second += 1) {
    for (let key = 0; key < 10_000; key += 1) limiter.nextDelay(`hostile/${key}`);
    assert.ok(limiter.nextDelay(`victim/${second}`) <= 1_000, `in second ${second}`);
    await time.advance(1_000);
  }
});

test('failing keys of one flow share its rate, however many other flows fail', () => {
  const limiter = flowLimiter(fakeTime());
  for (let key = 0; key < 2_000; key += 1) {
    limiter.nextDelay(`hostile/${key}`);
    limiter.nextDelay(`flow-${key}/0`);
  }
  assert.equal(limiter.nextDelay('hostile/2000'), 10_010);
});
