// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  createConcurrencyLimiter,
  FIRST_IN_FLIGHT,
  MAX_IN_FLIGHT,
  MIN_IN_FLIGHT,
  type ConcurrencyLimiter,
  WINDOW_MS,
} from '../../../src/kube/workqueue/concurrency-limiter.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

let time: FakeTime;
let limiter: ConcurrencyLimiter;
beforeEach(() => {
  time = fakeTime();
  limiter = createConcurrencyLimiter({ ...time, random: (size) => new Uint8Array(size) });
});

/** As many at once as may be, each answered after `took` ms; `rounds` times. */
async function rounds(count: number, took: number, status = 200): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    const begun = time.clock();
    let busy = 0;
    for (; limiter.available > 0; busy += 1) limiter.acquire();
    await time.advance(took);
    for (; busy > 0; busy -= 1) {
      limiter.observe({ begun, status });
      limiter.release();
    }
  }
}

test('a full round of quick answers lets one more in, up to the most there is', async () => {
  await rounds(1, 5);
  assert.ok(limiter.limit > FIRST_IN_FLIGHT && limiter.limit <= FIRST_IN_FLIGHT + 1);
  await rounds(200, 5);
  assert.equal(limiter.limit, MAX_IN_FLIGHT);
});

test('who does not use what there is gets no more of it', async () => {
  for (let turn = 0; turn < 500; turn += 1) {
    const begun = time.clock();
    limiter.acquire();
    await time.advance(1);
    limiter.observe({ begun, status: 200 });
    limiter.release();
  }
  assert.equal(limiter.limit, FIRST_IN_FLIGHT);
});

test('a 429 halves it once for all that were under way, and stays away for as long as it asks', async () => {
  const begun = time.clock();
  for (let index = 0; index < 10; index += 1) limiter.acquire();
  await time.advance(5);
  for (let index = 0; index < 10; index += 1) {
    limiter.observe({ begun, status: 429, retryAfter: 7_000 });
    limiter.release();
  }
  assert.equal(limiter.limit, FIRST_IN_FLIGHT / 2);
  let freed = 0;
  limiter.onAvailable(() => (freed += 1));
  await time.advance(6_999);
  assert.deepEqual([limiter.available > 0, freed], [false, 0]);
  await time.advance(1);
  assert.deepEqual([limiter.available > 0, freed], [true, 1]);
});

test('a 429 that does not say for how long keeps us away for a second', async () => {
  limiter.observe({ begun: time.clock(), status: 429 });
  await time.advance(999);
  assert.equal(limiter.available > 0, false);
  await time.advance(1);
  assert.equal(limiter.available > 0, true);
});

test('however often it is refused, two are tried', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    limiter.observe({ begun: time.clock(), status: 429 });
    await time.advance(1_000);
  }
  assert.equal(limiter.limit, MIN_IN_FLIGHT);
  assert.equal(limiter.available > 0, true);
});

test('a server that takes ever longer is asked for less, and for more when it is quick again', async () => {
  await rounds(200, 5);
  assert.equal(limiter.limit, MAX_IN_FLIGHT);
  await rounds(100, 1_000);
  assert.equal(limiter.limit, FIRST_IN_FLIGHT);
  await rounds(500, 5);
  assert.equal(limiter.limit, MAX_IN_FLIGHT);
});

test('a server that others keep slow is asked for as much as at first: who gives way to them is starved', async () => {
  await rounds(20, 5);
  for (let round = 0; round < 2_000; round += 1) {
    await rounds(1, 150);
    assert.ok(limiter.limit >= FIRST_IN_FLIGHT);
  }
});

test('what slow answers leave, refusals take: and slow ones give none of it back', async () => {
  await rounds(1, 5);
  for (let turn = 0; turn < 20; turn += 1) {
    limiter.observe({ begun: time.clock(), status: 429 });
    await time.advance(1_000);
  }
  await rounds(10, 1_000);
  assert.equal(limiter.limit, MIN_IN_FLIGHT);
});

test('a server that is slow by nature, whatever is asked of it, is asked for all it can do', async () => {
  await rounds(200, 400);
  assert.equal(limiter.limit, MAX_IN_FLIGHT);
});

test('a server that was faster an hour ago is not measured by that', async () => {
  await rounds(1, 5);
  await time.advance(WINDOW_MS);
  await rounds(1, 300);
  await time.advance(WINDOW_MS);
  await rounds(300, 300);
  assert.equal(limiter.limit, MAX_IN_FLIGHT);
});

test('a server that is away is asked again after 0.1 s, doubling to 2 s; one answer and all is well', async () => {
  for (const wait of [100, 200, 400, 800, 1_600, 2_000, 2_000]) {
    const begun = time.clock();
    for (const status of [0, 503]) limiter.observe({ begun, status });
    assert.deepEqual(time.waits(), [wait]);
    await time.advance(wait - 1);
    assert.equal(limiter.available > 0, false);
    await time.advance(1);
    assert.equal(limiter.available > 0, true);
  }
  limiter.observe({ begun: time.clock(), status: 200 });
  limiter.observe({ begun: time.clock(), status: 503 });
  assert.deepEqual(time.waits(), [100]);
});

test('one object at which the server itself fails slows nobody down', () => {
  for (let turn = 0; turn < 100; turn += 1) limiter.observe({ begun: time.clock(), status: 500 });
  assert.deepEqual([limiter.limit, limiter.available > 0], [FIRST_IN_FLIGHT, true]);
});

// A server with so many seats and no queue, whose answers take 10 ms.
for (const seats of [3, 10, 20]) {
  test(`beside a server with ${seats} seats it is refused seldom, and leaves few of them empty`, async () => {
    let [served, refused, elapsed] = [0, 0, 0];
    for (let round = 0; round < 600; round += 1) {
      const begun = time.clock();
      let busy = 0;
      for (; limiter.available > 0; busy += 1) limiter.acquire();
      await time.advance(10);
      if (busy > 0) elapsed += 10;
      for (let each = 0; each < busy; each += 1) {
        const status = each < seats ? 200 : 429;
        limiter.observe({ begun, status, retryAfter: 0 });
        if (status === 200) served += 1;
        else refused += 1;
        limiter.release();
      }
      await time.advance(0);
    }
    assert.ok(refused / served < 0.15, `${refused} refused of ${served}`);
    assert.ok(served / seats / (elapsed / 10) > 0.6, `${served} served`);
  });
}
