// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
} from '#kube/workqueue/concurrency-limiter.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

/** The limits of concurrency-limiter.ts: half of the seats of our priority level is the highest. */
const MIN_IN_FLIGHT = 2;
const INITIAL_IN_FLIGHT = 16;
const MAX_IN_FLIGHT = 32;
/** How long the lowest latency is remembered. */
const WINDOW_MS = 5 * 60_000;

let time: FakeTime;
let limiter: ConcurrencyLimiter;
beforeEach(() => {
  time = fakeTime();
  limiter = createConcurrencyLimiter({ ...time, random: (size) => new Uint8Array(size) });
});

/** `count` rounds, each of as many writes as are allowed, with a response after `took` ms. */
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

test('a round of quick responses at the limit raises it by one, up to the maximum', async () => {
  await rounds(1, 5);
  assert.ok(
    limiter.currentLimit() > INITIAL_IN_FLIGHT && limiter.currentLimit() <= INITIAL_IN_FLIGHT + 1,
  );
  await rounds(200, 5);
  assert.equal(limiter.currentLimit(), MAX_IN_FLIGHT);
});

test('a limit that is not reached does not grow', async () => {
  for (let turn = 0; turn < 500; turn += 1) {
    const begun = time.clock();
    limiter.acquire();
    await time.advance(1);
    limiter.observe({ begun, status: 200 });
    limiter.release();
  }
  assert.equal(limiter.currentLimit(), INITIAL_IN_FLIGHT);
});

test('a 429 halves the limit once for all writes in flight and pauses for Retry-After', async () => {
  const begun = time.clock();
  for (let index = 0; index < 10; index += 1) limiter.acquire();
  await time.advance(5);
  for (let index = 0; index < 10; index += 1) {
    limiter.observe({ begun, status: 429, retryAfter: 7_000 });
    limiter.release();
  }
  assert.equal(limiter.currentLimit(), INITIAL_IN_FLIGHT / 2);
  let freed = 0;
  limiter.onAvailable(() => (freed += 1));
  await time.advance(6_999);
  assert.deepEqual([limiter.available > 0, freed], [false, 0]);
  await time.advance(1);
  assert.deepEqual([limiter.available > 0, freed], [true, 1]);
});

test('a 429 without Retry-After pauses for a second', async () => {
  limiter.observe({ begun: time.clock(), status: 429 });
  await time.advance(999);
  assert.equal(limiter.available > 0, false);
  await time.advance(1);
  assert.equal(limiter.available > 0, true);
});

test('however many writes get a 429, two stay allowed', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    limiter.observe({ begun: time.clock(), status: 429 });
    await time.advance(1_000);
  }
  assert.equal(limiter.currentLimit(), MIN_IN_FLIGHT);
  assert.equal(limiter.available > 0, true);
});

test('slow responses reduce the limit, and quick ones raise it again', async () => {
  await rounds(200, 5);
  assert.equal(limiter.currentLimit(), MAX_IN_FLIGHT);
  await rounds(100, 1_000);
  assert.equal(limiter.currentLimit(), INITIAL_IN_FLIGHT);
  await rounds(500, 5);
  assert.equal(limiter.currentLimit(), MAX_IN_FLIGHT);
});

test('a server slowed by other clients does not reduce the limit below its start', async () => {
  await rounds(20, 5);
  for (let round = 0; round < 2_000; round += 1) {
    await rounds(1, 150);
    assert.ok(limiter.currentLimit() >= INITIAL_IN_FLIGHT);
  }
});

test('a 429 reduces the limit below its start, and slow responses do not raise it', async () => {
  await rounds(1, 5);
  for (let turn = 0; turn < 20; turn += 1) {
    limiter.observe({ begun: time.clock(), status: 429 });
    await time.advance(1_000);
  }
  await rounds(10, 1_000);
  assert.equal(limiter.currentLimit(), MIN_IN_FLIGHT);
});

test('a server with a constant high latency gets the highest limit', async () => {
  await rounds(200, 400);
  assert.equal(limiter.currentLimit(), MAX_IN_FLIGHT);
});

test('a lowest latency older than two windows is forgotten', async () => {
  await rounds(1, 5);
  await time.advance(WINDOW_MS);
  await rounds(1, 300);
  await time.advance(WINDOW_MS);
  await rounds(300, 300);
  assert.equal(limiter.currentLimit(), MAX_IN_FLIGHT);
});

test('an unavailable server is retried after 0.1 s, doubling to 2 s, until it responds', async () => {
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

test('a 500 for one object does not reduce the limit', () => {
  for (let turn = 0; turn < 100; turn += 1) limiter.observe({ begun: time.clock(), status: 500 });
  assert.deepEqual([limiter.currentLimit(), limiter.available > 0], [INITIAL_IN_FLIGHT, true]);
});

/** Writes at a server with so many seats and no queue, whose responses take 10 ms. */
interface SeatsUsed {
  served: number;
  refused: number;
  elapsed: number;
}

async function writeTo(seats: number, before: () => Promise<void>): Promise<SeatsUsed> {
  const used: SeatsUsed = { served: 0, refused: 0, elapsed: 0 };
  for (let round = 0; round < 600; round += 1) {
    const batch: Promise<void>[] = [];
    const start = (): void => {
      for (; limiter.available > 0; batch.push(before())) limiter.acquire();
    };
    start();
    await time.advance(0);
    // In the seats that the first ones lent.
    start();
    await time.advance(10);
    await Promise.all(batch);
    const begun = time.clock();
    await time.advance(10);
    if (batch.length > 0) used.elapsed += 10;
    for (const [each] of batch.entries()) {
      const status = each < seats ? 200 : 429;
      limiter.observe({ begun, status, retryAfter: 0 });
      if (status === 200) used.served += 1;
      else used.refused += 1;
      limiter.release();
    }
    await time.advance(0);
  }
  return used;
}

for (const seats of [3, 10, 20]) {
  test(`${seats} seats reject under 15 % of the writes and are used to 60 %`, async () => {
    const { served, refused, elapsed } = await writeTo(seats, () => Promise.resolve());
    assert.ok(refused / served < 0.15, `${refused} refused of ${served}`);
    assert.ok(served / seats / (elapsed / 10) > 0.6, `${served} served`);
  });

  test(`${seats} seats reject under 15 % of the writes of objects that lend theirs`, async () => {
    const record = (): Promise<void> => limiter.lend(() => time.delay(5));
    const { served, refused } = await writeTo(seats, record);
    assert.ok(refused / served < 0.15, `${refused} refused of ${served}`);
  });
}

/** As many 429s as cut the limit to its least. */
async function storm(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    limiter.observe({ begun: time.clock(), status: 429 });
    await time.advance(1_000);
  }
  assert.equal(limiter.currentLimit(), MIN_IN_FLIGHT);
}

test('a loop with little to do has its initial limit ten seconds after many 429s', async () => {
  await storm();
  for (let second = 0; second < 10; second += 1) {
    const begun = time.clock();
    limiter.acquire();
    await time.advance(1_000);
    limiter.observe({ begun, status: 200 });
    limiter.release();
  }
  assert.equal(limiter.currentLimit(), INITIAL_IN_FLIGHT);
  assert.equal(limiter.available, INITIAL_IN_FLIGHT);
});

test('so has one with nothing to do, but not while 429s go on', async () => {
  await storm();
  await time.advance(9_000);
  assert.equal(limiter.currentLimit(), MIN_IN_FLIGHT);
  limiter.observe({ begun: time.clock(), status: 429, retryAfter: 60_000 });
  assert.equal(limiter.currentLimit(), MIN_IN_FLIGHT, 'at the start of a long pause');
  await time.advance(69_999);
  assert.equal(
    limiter.currentLimit(),
    MIN_IN_FLIGHT,
    'ten seconds count from the end of the pause',
  );
  await time.advance(1);
  assert.equal(limiter.currentLimit(), INITIAL_IN_FLIGHT);
});

test('a limit that is high stays so, however little there is to do', async () => {
  await rounds(200, 5);
  await time.advance(600_000);
  assert.equal(limiter.currentLimit(), MAX_IN_FLIGHT);
});

/** Takes all seats, and lends those of `count` objects until `end` is called. */
function fullWithLent(count: number): { lent: Promise<readonly string[]>; end: () => void } {
  while (limiter.available > 0) limiter.acquire();
  const { promise, resolve } = Promise.withResolvers<string>();
  const lent = Promise.all(Array.from({ length: count }, () => limiter.lend(() => promise)));
  return { lent, end: () => resolve('result') };
}

test('an object that lends its seat lets another one start', async () => {
  let offered = 0;
  limiter.onAvailable(() => (offered += 1));
  const { lent, end } = fullWithLent(1);
  assert.deepEqual([limiter.available, limiter.lent, offered], [1, 1, 1]);
  end();
  assert.deepEqual(await lent, ['result']);
  assert.deepEqual([limiter.available, limiter.lent], [0, 0]);
});

test('as many objects lend their seats as the limit allows', async () => {
  const { lent, end } = fullWithLent(INITIAL_IN_FLIGHT);
  while (limiter.available > 0) limiter.acquire();
  const more = limiter.lend(() => Promise.resolve('more'));
  assert.deepEqual([limiter.available, limiter.lent], [0, INITIAL_IN_FLIGHT]);
  assert.equal(await more, 'more');
  end();
  await lent;
  // Twice the limit is in progress.
  for (let seat = 0; seat < INITIAL_IN_FLIGHT; seat += 1) limiter.release();
  assert.equal(limiter.available, 0);
  limiter.release();
  assert.equal(limiter.available, 1);
});

test('an object takes back its seat at once, also during a pause and at a lower limit', async () => {
  const { lent, end } = fullWithLent(1);
  limiter.observe({ begun: time.clock() + 1, status: 429, retryAfter: 60_000 });
  end();
  assert.deepEqual(await lent, ['result']);
  assert.equal(limiter.lent, 0);
});

test('an object whose work fails while its seat is lent has the seat again', async () => {
  while (limiter.available > 0) limiter.acquire();
  await assert.rejects(
    limiter.lend(() => Promise.reject(new Error('away'))),
    /away/,
  );
  assert.deepEqual([limiter.available, limiter.lent], [0, 0]);
});
