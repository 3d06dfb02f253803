// SPDX-License-Identifier: Apache-2.0
/**
 * What a flow that asks for little waits for, beside one that holds all seats of a loop. Counts,
 * not times.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createDelayingQueue, type DelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { runLoop } from '#kube/workqueue/run-loop.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

/** concurrency-limiter.ts */
const INITIAL_IN_FLIGHT = 16;
/** Of 16 seats: run-loop.ts. */
const RESERVED = 2;
/** The limit after one 429. It has one reserved seat. */
const HALVED_IN_FLIGHT = 8;
/** How many keys are started in a turn of the event loop at most. */
const BATCH_SIZE = 8;

interface Loop {
  readonly time: FakeTime;
  readonly queue: DelayingQueue;
  readonly concurrency: ReturnType<typeof createConcurrencyLimiter>;
  /** What is in progress, in the order of the starts. */
  readonly open: Map<string, () => void>;
  readonly end: () => Promise<void>;
}

/** Keys are `flow/…`; what starts stays in progress until it is finished through `open`. */
function startLoop(onStart: (key: string) => void = () => undefined): Loop {
  const time = fakeTime();
  const random = (size: number): Uint8Array => new Uint8Array(size);
  const nothing = (): void => undefined;
  const metrics = { added: nothing, depth: nothing, waited: nothing };
  const queue = createDelayingQueue(
    createQueue(time.clock, metrics, random),
    time.clock,
    time.startTimer,
  );
  queue.assignFlows((key) => ({ distinguishers: [key.split('/')[0] ?? '', 'node'] }));
  const concurrency = createConcurrencyLimiter({ ...time, random });
  const open = new Map<string, () => void>();
  const abort = new AbortController();
  const ended = runLoop(
    {
      queue,
      concurrency,
      workers: 99,
      clock: time.clock,
      delay: time.delay,
      limiter: createRateLimiter({ firstMs: 5, maxMs: 10, random }),
      handle: (key) =>
        new Promise((resolve) => {
          onStart(key);
          open.set(key, () => {
            open.delete(key);
            resolve(undefined);
          });
        }),
      onError: (_key, error) => {
        throw error as Error;
      },
      metrics: { worked: nothing, retried: nothing },
    },
    abort.signal,
  );
  const end = async (): Promise<void> => {
    abort.abort();
    for (const finish of open.values()) finish();
    await ended;
  };
  return { time, queue, concurrency, open, end };
}

function addMany(queue: DelayingQueue, flow: string, count: number): void {
  for (let index = 0; index < count; index += 1) queue.add(`${flow}/${index}`);
}

test('a key of an idle flow starts at once while another flow holds all seats', async () => {
  const loop = startLoop();
  addMany(loop.queue, 'hostile', 100);
  await loop.time.advance(0);
  assert.equal(loop.open.size, INITIAL_IN_FLIGHT);
  loop.queue.add('victim/0');
  await loop.time.advance(0);
  assert.ok(loop.open.has('victim/0'), 'no hostile key had to end');
  loop.queue.add('victim/1');
  await loop.time.advance(0);
  assert.ok(!loop.open.has('victim/1'), 'now it has something in progress');
  await loop.end();
});

test('nor does it wait for a batch of others to fill', async () => {
  const loop = startLoop();
  addMany(loop.queue, 'hostile', 100);
  await loop.time.advance(0);
  loop.open.get('hostile/0')?.();
  await loop.time.advance(0);
  loop.queue.add('victim/0');
  await loop.time.advance(0);
  assert.deepEqual([...loop.open.keys()].at(-1), 'victim/0');
  await loop.end();
});

test('however many flows come, only the reserved seats are beside the limit', async () => {
  const loop = startLoop();
  addMany(loop.queue, 'hostile', 100);
  await loop.time.advance(0);
  for (let flow = 0; flow < 50; flow += 1) addMany(loop.queue, `flow-${flow}`, 3);
  await loop.time.advance(0);
  assert.equal(loop.open.size, INITIAL_IN_FLIGHT + RESERVED);
  for (const finish of [...loop.open.values()]) finish();
  await loop.time.advance(0);
  assert.ok(loop.open.size <= INITIAL_IN_FLIGHT + RESERVED);
  await loop.end();
});

test('when a key on a reserved seat ends, the next idle flow has the seat at once', async () => {
  const loop = startLoop();
  addMany(loop.queue, 'hostile', 100);
  await loop.time.advance(0);
  assert.equal(loop.open.size, INITIAL_IN_FLIGHT);
  await holdsSeatsInTurn(loop, RESERVED);
});

test('so it is with a single reserved seat after a 429', async () => {
  const loop = startLoop();
  loop.concurrency.observe({ begun: loop.time.clock(), status: 429, retryAfter: 0 });
  addMany(loop.queue, 'hostile', 100);
  await loop.time.advance(0);
  assert.equal(loop.open.size, HALVED_IN_FLIGHT);
  await holdsSeatsInTurn(loop, 1);
});

/** Adds keys of idle flows while one flow holds all seats, and ends them one after the other. */
async function holdsSeatsInTurn(loop: Loop, seats: number): Promise<void> {
  const idle = Array.from({ length: 8 }, (_each, index) => `idle-${index}/0`);
  for (const key of idle) loop.queue.add(key);
  await loop.time.advance(0);
  for (let ended = 0; ended < idle.length; ended += 1) {
    const seated = idle.filter((key) => loop.open.has(key));
    assert.deepEqual(seated, idle.slice(ended, ended + seats), `after ${ended} of them`);
    loop.open.get(idle[ended] ?? '')?.();
    await loop.time.advance(0);
  }
  await loop.end();
}

test('a reserved seat is none where the API server said to wait', async () => {
  const loop = startLoop();
  addMany(loop.queue, 'hostile', 100);
  await loop.time.advance(0);
  loop.concurrency.observe({ begun: loop.time.clock(), status: 429, retryAfter: 5_000 });
  loop.queue.add('victim/0');
  await loop.time.advance(4_999);
  assert.ok(!loop.open.has('victim/0'));
  await loop.time.advance(1);
  assert.ok(loop.open.has('victim/0'));
  await loop.end();
});

test('the event loop turns after each batch, however many keys may start', async () => {
  const starts: number[] = [];
  let turns = 0;
  const loop = startLoop(() => starts.push(turns));
  addMany(loop.queue, 'hostile', 100);
  for (; turns < 20; turns += 1) await nextTurn();
  assert.equal(starts.length, INITIAL_IN_FLIGHT);
  for (const turn of new Set(starts)) {
    const together = starts.filter((each) => each === turn).length;
    assert.ok(together <= BATCH_SIZE, `${together} in turn ${turn}`);
  }
  await loop.end();
});
