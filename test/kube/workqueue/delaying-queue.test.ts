// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDelayingQueue, type DelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

/** The longest delay of setTimeout: more than 24.8 days overflow, and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function delaying(time: FakeTime): DelayingQueue {
  const nothing = (): void => undefined;
  const ignored = { added: nothing, depth: nothing, waited: nothing };
  const queue = createQueue(time.clock, ignored, (size) => new Uint8Array(size));
  return createDelayingQueue(queue, time.clock, time.startTimer);
}

test('a key is queued at its time, and not before', async () => {
  const time = fakeTime();
  const queue = delaying(time);
  queue.addAt('a', time.clock() + 1_000);
  await time.advance(999);
  assert.equal(queue.depth, 0);
  await time.advance(1);
  assert.equal(queue.depth, 1);
});

test('a key whose time has passed is queued at once', async () => {
  const time = fakeTime();
  const queue = delaying(time);
  queue.addAt('a', time.clock() - 5_000);
  await time.advance(0);
  assert.equal(queue.depth, 1);
});

test('the earliest of several times for one key applies, in whatever order', async () => {
  const soonest = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(soonest, async (offsets) => {
      const time = fakeTime();
      const queue = delaying(time);
      for (const offset of offsets) queue.addAt('a', time.clock() + offset);
      assert.equal(time.waits().length, 1, 'one timer');
      const first = Math.min(...offsets);
      if (first > 0) await time.advance(first - 1);
      assert.equal(queue.depth, first === 0 ? queue.depth : 0);
      await time.advance(first === 0 ? 0 : 1);
      assert.equal(await queue.take(), 'a');
      queue.done('a');
      await time.advance(100);
      assert.equal(queue.depth, 0, 'and it is queued once');
    }),
    { numRuns: 30 },
  );
});

test('a cancelled key is not queued; a key added now is queued at its time too', async () => {
  const time = fakeTime();
  const queue = delaying(time);
  queue.addAt('a', time.clock() + 10);
  queue.addAt('b', time.clock() + 10);
  queue.cancel('a');
  queue.add('b');
  assert.equal(await queue.take(), 'b');
  queue.done('b');
  await time.advance(10);
  assert.equal(await queue.take(), 'b');
  assert.equal(queue.depth, 0);
});

test('10,000 keys share one timer, and are queued in the order of their times', async () => {
  const time = fakeTime();
  const queue = delaying(time);
  const count = 10_000;
  // 7919 is a prime: every offset is there once, in no order.
  for (let index = 0; index < count; index += 1) {
    queue.addAt(`key-${(index * 7_919) % count}`, time.clock() + ((index * 7_919) % count) + 1);
  }
  assert.ok(time.waits().length === 1);
  await time.advance(count / 2);
  assert.equal(queue.depth, count / 2);
  for (let index = 0; index < count / 2; index += 1)
    assert.equal(await queue.take(), `key-${index}`);
});

test('a delay of months takes several timers, since one of 25 days would fire at once', async () => {
  const time = fakeTime();
  const queue = delaying(time);
  const months = 3 * MAX_TIMER_MS + 17;
  queue.addAt('a', time.clock() + months);
  assert.deepEqual(time.waits(), [MAX_TIMER_MS]);
  await time.advance(months - 1);
  assert.equal(queue.depth, 0);
  await time.advance(1);
  assert.equal(queue.depth, 1);
});

test('a queue that is shut down leaves no timer that would keep the process alive', async () => {
  const time = fakeTime();
  const queue = delaying(time);
  queue.addAt('a', time.clock() + 10);
  queue.shutDown();
  queue.addAt('b', time.clock() + 10);
  assert.deepEqual(time.waits(), []);
  assert.equal(await queue.take(), undefined);
});
