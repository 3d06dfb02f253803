// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createIdleTimeout } from '#kube/watch/idle-timeout.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import type { Clock } from '#base/ports.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

const HOUR = 3_600_000;
/** The longest delay of setTimeout. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const zeros = (size: number): Uint8Array => new Uint8Array(size);

/** A clock that can be set; timers do not follow it, as those of the system. */
function stepped(time: FakeTime): { readonly clock: Clock; readonly step: (ms: number) => void } {
  let offset = 0;
  return {
    clock: () => time.clock() + offset,
    step: (ms) => {
      offset += ms;
    },
  };
}

test('a clock that is set back an hour does not delay a key by that hour', async () => {
  const time = fakeTime();
  const { clock, step } = stepped(time);
  const nothing = (): void => undefined;
  const queue = createDelayingQueue(
    createQueue(clock, { added: nothing, depth: nothing, waited: nothing }, zeros),
    clock,
    time.startTimer,
  );
  queue.addAt('a', clock() + 30_000);
  await time.advance(10_000);
  step(-HOUR);
  await time.advance(20_000);
  assert.equal(queue.depth, 1);
});

test('a delay of months follows the clock whenever one of its timers fires', async () => {
  const time = fakeTime();
  const { clock, step } = stepped(time);
  const nothing = (): void => undefined;
  const queue = createDelayingQueue(
    createQueue(clock, { added: nothing, depth: nothing, waited: nothing }, zeros),
    clock,
    time.startTimer,
  );
  queue.addAt('a', clock() + 2 * MAX_TIMER_MS);
  step(HOUR);
  await time.advance(2 * MAX_TIMER_MS - HOUR - 1);
  assert.equal(queue.depth, 0);
  await time.advance(1);
  assert.equal(queue.depth, 1);
});

test('a silent watch times out even if the clock was set back meanwhile', async () => {
  const time = fakeTime();
  const { clock, step } = stepped(time);
  const outer = new AbortController();
  const liveness = createIdleTimeout({ timeoutMs: 90_000, clock, delay: time.delay }, outer.signal);
  await time.advance(50_000);
  liveness.reset();
  step(-HOUR);
  await time.advance(179_999);
  assert.ok(liveness.signal.aborted);
});

test('a watch times out after the silence it allows, and not sooner', async () => {
  const time = fakeTime();
  const outer = new AbortController();
  const liveness = createIdleTimeout({ ...time, timeoutMs: 90_000 }, outer.signal);
  for (let lines = 0; lines < 10; lines += 1) {
    await time.advance(80_000);
    liveness.reset();
  }
  await time.advance(89_999);
  assert.ok(!liveness.signal.aborted);
  await time.advance(1);
  assert.ok(liveness.signal.aborted);
});
