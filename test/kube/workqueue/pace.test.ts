// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { WINDOW_MS } from '../../../src/kube/workqueue/best-latency.ts';
import {
  FIRST_IN_FLIGHT,
  MAX_IN_FLIGHT,
  MIN_IN_FLIGHT,
  createPace,
  type Pace,
} from '../../../src/kube/workqueue/pace.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

let time: FakeTime;
let pace: Pace;
beforeEach(() => {
  time = fakeTime();
  pace = createPace({ ...time, random: (size) => new Uint8Array(size) });
});

/** As many at once as may be, each answered after `took` ms; `rounds` times. */
async function rounds(count: number, took: number, status = 200): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    const begun = time.clock();
    let busy = 0;
    for (; pace.room > 0; busy += 1) pace.begin();
    await time.advance(took);
    for (; busy > 0; busy -= 1) {
      pace.observe({ begun, status });
      pace.end();
    }
  }
}

test('a full round of quick answers lets one more in, up to the most there is', async () => {
  await rounds(1, 5);
  assert.ok(pace.limit > FIRST_IN_FLIGHT && pace.limit <= FIRST_IN_FLIGHT + 1);
  await rounds(200, 5);
  assert.equal(pace.limit, MAX_IN_FLIGHT);
});

test('who does not use what there is gets no more of it', async () => {
  for (let turn = 0; turn < 500; turn += 1) {
    const begun = time.clock();
    pace.begin();
    await time.advance(1);
    pace.observe({ begun, status: 200 });
    pace.end();
  }
  assert.equal(pace.limit, FIRST_IN_FLIGHT);
});

test('a 429 halves it once for all that were under way, and stays away for as long as it asks', async () => {
  const begun = time.clock();
  for (let index = 0; index < 10; index += 1) pace.begin();
  await time.advance(5);
  for (let index = 0; index < 10; index += 1) {
    pace.observe({ begun, status: 429, retryAfter: 7_000 });
    pace.end();
  }
  assert.equal(pace.limit, FIRST_IN_FLIGHT / 2);
  let freed = 0;
  pace.onFree(() => (freed += 1));
  await time.advance(6_999);
  assert.deepEqual([pace.room > 0, freed], [false, 0]);
  await time.advance(1);
  assert.deepEqual([pace.room > 0, freed], [true, 1]);
});

test('a 429 that does not say for how long keeps us away for a second', async () => {
  pace.observe({ begun: time.clock(), status: 429 });
  await time.advance(999);
  assert.equal(pace.room > 0, false);
  await time.advance(1);
  assert.equal(pace.room > 0, true);
});

test('however often it is refused, two are tried', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    pace.observe({ begun: time.clock(), status: 429 });
    await time.advance(1_000);
  }
  assert.equal(pace.limit, MIN_IN_FLIGHT);
  assert.equal(pace.room > 0, true);
});

test('a server that takes ever longer is asked for less, and for more when it is quick again', async () => {
  await rounds(200, 5);
  assert.equal(pace.limit, MAX_IN_FLIGHT);
  await rounds(100, 1_000);
  assert.equal(pace.limit, FIRST_IN_FLIGHT);
  await rounds(500, 5);
  assert.equal(pace.limit, MAX_IN_FLIGHT);
});

test('a server that others keep slow is asked for as much as at first: who gives way to them is starved', async () => {
  await rounds(20, 5);
  for (let round = 0; round < 2_000; round += 1) {
    await rounds(1, 150);
    assert.ok(pace.limit >= FIRST_IN_FLIGHT);
  }
});

test('what slow answers leave, refusals take: and slow ones give none of it back', async () => {
  await rounds(1, 5);
  for (let turn = 0; turn < 20; turn += 1) {
    pace.observe({ begun: time.clock(), status: 429 });
    await time.advance(1_000);
  }
  await rounds(10, 1_000);
  assert.equal(pace.limit, MIN_IN_FLIGHT);
});

test('a server that is slow by nature, whatever is asked of it, is asked for all it can do', async () => {
  await rounds(200, 400);
  assert.equal(pace.limit, MAX_IN_FLIGHT);
});

test('a server that was faster an hour ago is not measured by that', async () => {
  await rounds(1, 5);
  await time.advance(WINDOW_MS);
  await rounds(1, 300);
  await time.advance(WINDOW_MS);
  await rounds(300, 300);
  assert.equal(pace.limit, MAX_IN_FLIGHT);
});

test('a server that is away is asked again after 0.1 s, doubling to 2 s; one answer and all is well', async () => {
  for (const wait of [100, 200, 400, 800, 1_600, 2_000, 2_000]) {
    const begun = time.clock();
    for (const status of [0, 503]) pace.observe({ begun, status });
    assert.deepEqual(time.waits(), [wait]);
    await time.advance(wait - 1);
    assert.equal(pace.room > 0, false);
    await time.advance(1);
    assert.equal(pace.room > 0, true);
  }
  pace.observe({ begun: time.clock(), status: 200 });
  pace.observe({ begun: time.clock(), status: 503 });
  assert.deepEqual(time.waits(), [100]);
});

test('one object at which the server itself fails slows nobody down', () => {
  for (let turn = 0; turn < 100; turn += 1) pace.observe({ begun: time.clock(), status: 500 });
  assert.deepEqual([pace.limit, pace.room > 0], [FIRST_IN_FLIGHT, true]);
});

// A server with so many seats and no queue, whose answers take 10 ms.
for (const seats of [3, 10, 20]) {
  test(`beside a server with ${seats} seats it is refused seldom, and leaves few of them empty`, async () => {
    let [served, refused, elapsed] = [0, 0, 0];
    for (let round = 0; round < 600; round += 1) {
      const begun = time.clock();
      let busy = 0;
      for (; pace.room > 0; busy += 1) pace.begin();
      await time.advance(10);
      if (busy > 0) elapsed += 10;
      for (let each = 0; each < busy; each += 1) {
        const status = each < seats ? 200 : 429;
        pace.observe({ begun, status, retryAfter: 0 });
        if (status === 200) served += 1;
        else refused += 1;
        pace.end();
      }
      await time.advance(0);
    }
    assert.ok(refused / served < 0.15, `${refused} refused of ${served}`);
    assert.ok(served / seats / (elapsed / 10) > 0.6, `${served} served`);
  });
}
