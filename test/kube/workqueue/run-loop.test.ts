// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDelayingQueue, type DelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
} from '#kube/workqueue/concurrency-limiter.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter, type RateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

/** The limit that a concurrency limiter starts with (concurrency-limiter.ts). */
const INITIAL_IN_FLIGHT = 16;
/** How many keys a batch has, and how long it waits to fill (run-loop.ts). */
const BATCH_SIZE = 8;
const BATCH_WAIT_MS = 20;

interface Loop {
  readonly time: FakeTime;
  readonly queue: DelayingQueue;
  readonly limiter: RateLimiter;
  readonly concurrency: ConcurrencyLimiter;
  readonly handled: string[];
  readonly errors: string[];
  readonly counts: { worked: number; retried: number };
  readonly stop: () => void;
  readonly ended: Promise<void>;
}

const nothing = (): void => undefined;
const ignored = { added: nothing, depth: nothing, waited: nothing };
const zeros = (size: number): Uint8Array => new Uint8Array(size);

function startLoop(handle: (key: string) => Promise<ReconcileResult>, workers = 1): Loop {
  const time = fakeTime();
  const plain = createQueue(time.clock, ignored, zeros);
  const queue = createDelayingQueue(plain, time.clock, time.startTimer);
  const limiter = createRateLimiter({ firstMs: 5, maxMs: 1_000, random: zeros });
  const concurrency = createConcurrencyLimiter({ ...time, random: zeros });
  const [handled, errors]: [string[], string[]] = [[], []];
  const counts = { worked: 0, retried: 0 };
  const abort = new AbortController();
  const ended = runLoop(
    {
      queue,
      limiter,
      concurrency,
      workers,
      clock: time.clock,
      delay: time.delay,
      handle: (key) => {
        handled.push(key);
        return handle(key);
      },
      onError: (key, error) => errors.push(`${key}: ${String(error)}`),
      metrics: {
        worked: () => (counts.worked += 1),
        retried: () => (counts.retried += 1),
      },
    },
    abort.signal,
  );
  const stop = (): void => {
    abort.abort();
  };
  return { time, queue, limiter, concurrency, handled, errors, counts, stop, ended };
}

test('a key that fails is retried after growing delays, and success resets them', async () => {
  let failures = 3;
  const loop = startLoop(() => {
    failures -= 1;
    return failures >= 0 ? Promise.reject(new Error('not yet')) : Promise.resolve(undefined);
  });
  loop.queue.add('a');
  for (const wait of [5, 10, 20]) {
    await loop.time.advance(0);
    assert.deepEqual(loop.time.waits(), [wait]);
    await loop.time.advance(wait);
  }
  assert.deepEqual(loop.handled, ['a', 'a', 'a', 'a']);
  assert.deepEqual(loop.errors, Array(3).fill('a: Error: not yet'));
  assert.deepEqual(loop.counts, { worked: 4, retried: 3 });
  assert.equal(loop.limiter.failures('a'), 0);
  loop.stop();
  await loop.ended;
});

test('a key that always fails does not delay others', async () => {
  const loop = startLoop((key) =>
    key === 'bad' ? Promise.resolve('backoff') : Promise.resolve(undefined),
  );
  loop.queue.add('bad');
  loop.queue.add('good');
  await loop.time.advance(0);
  assert.deepEqual(loop.handled, ['bad', 'good']);
  assert.deepEqual(loop.errors, [], 'a backoff result is no error');
  loop.stop();
  await loop.ended;
});

test('a key is requeued at the time that the result names', async () => {
  let at: number | undefined;
  const loop = startLoop(() => Promise.resolve(at === undefined ? undefined : { requeueAt: at }));
  at = loop.time.clock() + 60_000;
  loop.queue.add('a');
  await loop.time.advance(59_999);
  assert.equal(loop.handled.length, 1);
  at = undefined;
  await loop.time.advance(1);
  assert.equal(loop.handled.length, 2);
  loop.stop();
  await loop.ended;
});

test('at most `workers` keys are in progress, and no key twice', async () => {
  const open = new Map<string, () => void>();
  const loop = startLoop(
    (key) =>
      new Promise((resolve) => {
        assert.ok(!open.has(key));
        open.set(key, () => {
          open.delete(key);
          resolve(undefined);
        });
      }),
    2,
  );
  for (const key of ['a', 'b', 'c', 'a']) loop.queue.add(key);
  await loop.time.advance(0);
  loop.queue.add('a');
  assert.deepEqual([...open.keys()], ['a', 'b']);
  open.get('b')?.();
  await loop.time.advance(0);
  assert.deepEqual([...open.keys()], ['a', 'c']);
  loop.stop();
  for (const finish of open.values()) finish();
  await loop.ended;
});

test('during a Retry-After no key starts, and the most urgent starts first afterwards', async () => {
  const loop = startLoop(() => Promise.resolve(undefined), 9);
  loop.queue.assignFlows((key) => ({
    distinguishers: [],
    deadline: key === 'urgent' ? 1 : undefined,
  }));
  loop.concurrency.observe({ begun: loop.time.clock(), status: 429, retryAfter: 5_000 });
  for (const key of ['a', 'b', 'c', 'urgent']) loop.queue.add(key);
  await loop.time.advance(4_999);
  assert.equal(loop.handled.length, 0);
  await loop.time.advance(1);
  assert.equal(loop.handled[0], 'urgent');
  assert.equal(loop.handled.length, 4);
  loop.stop();
  await loop.ended;
});

test('a loop that is stopped during a Retry-After ends at once', async () => {
  const loop = startLoop(() => Promise.resolve(undefined));
  await loop.time.advance(0);
  loop.concurrency.observe({ begun: loop.time.clock(), status: 429, retryAfter: 60_000 });
  loop.queue.add('a');
  await loop.time.advance(0);
  loop.stop();
  await loop.ended;
});

test('the concurrency limit bounds the keys in progress; more start when it rises', async () => {
  const open: (() => void)[] = [];
  const loop = startLoop(() => new Promise((resolve) => open.push(() => resolve(undefined))), 99);
  const { length } = Array.from({ length: 50 }, (_each, index) => loop.queue.add(`key-${index}`));
  assert.equal(length, 50);
  await loop.time.advance(0);
  assert.equal(open.length, Math.floor(loop.concurrency.currentLimit()));
  loop.concurrency.observe({ begun: loop.time.clock(), status: 429, retryAfter: 0 });
  for (const finish of open.splice(0)) finish();
  await loop.time.advance(0);
  assert.equal(open.length, Math.floor(loop.concurrency.currentLimit()));
  loop.stop();
  for (const finish of open) finish();
  await loop.ended;
});

/** A loop with this many keys, which are in progress until `open` finishes them one by one. */
async function startBusy(keys: number): Promise<Loop & { readonly open: (() => void)[] }> {
  const open: (() => void)[] = [];
  const loop = startLoop(() => new Promise((resolve) => open.push(() => resolve(undefined))), 99);
  for (let index = 0; index < keys; index += 1) loop.queue.add(`key-${index}`);
  await loop.time.advance(0);
  assert.equal(open.length, INITIAL_IN_FLIGHT);
  return { ...loop, open };
}

async function endBusy({
  open,
  stop,
  ended,
}: Awaited<ReturnType<typeof startBusy>>): Promise<void> {
  stop();
  for (const finish of open) finish();
  await ended;
}

test('while many keys wait, a batch starts as soon as the limit allows a whole one', async () => {
  const loop = await startBusy(50);
  for (let finished = 1; finished < BATCH_SIZE; finished += 1) {
    loop.open.shift()?.();
    await loop.time.advance(0);
    assert.equal(loop.handled.length, INITIAL_IN_FLIGHT);
  }
  loop.open.shift()?.();
  await loop.time.advance(0);
  assert.equal(loop.handled.length, INITIAL_IN_FLIGHT + BATCH_SIZE);
  await endBusy(loop);
});

test('slow keys delay the start of others by 20 ms at most', async () => {
  const loop = await startBusy(50);
  for (const round of [1, 2, 3]) {
    loop.open.pop()?.();
    await loop.time.advance(BATCH_WAIT_MS);
    assert.equal(loop.handled.length, INITIAL_IN_FLIGHT + round);
  }
  await endBusy(loop);
});

test('the last keys start without waiting for a batch', async () => {
  const loop = await startBusy(INITIAL_IN_FLIGHT + 1);
  loop.open.shift()?.();
  await loop.time.advance(0);
  assert.equal(loop.handled.length, INITIAL_IN_FLIGHT + 1);
  await endBusy(loop);
});

test('a loop that is stopped finishes the keys in progress and starts no more', async () => {
  let finish: (() => void) | undefined;
  const loop = startLoop(
    () =>
      new Promise((resolve) => {
        finish = () => {
          resolve('backoff');
        };
      }),
  );
  loop.queue.add('a');
  loop.queue.add('b');
  await loop.time.advance(0);
  let ended = false;
  void loop.ended.then(() => (ended = true));
  loop.stop();
  await loop.time.advance(0);
  assert.equal(ended, false, 'a is still in flight');
  finish?.();
  await loop.ended;
  assert.deepEqual(loop.handled, ['a']);
  assert.deepEqual(loop.time.waits(), [], 'no timer keeps the process alive');
});

test('a loop that starts after the stop processes nothing', async () => {
  const time = fakeTime();
  const plain = createQueue(time.clock, ignored, zeros);
  const queue = createDelayingQueue(plain, time.clock, time.startTimer);
  queue.add('a');
  await runLoop(
    {
      queue,
      limiter: createRateLimiter({ firstMs: 5, maxMs: 10, random: zeros }),
      workers: 3,
      concurrency: createConcurrencyLimiter({ ...time, random: zeros }),
      clock: time.clock,
      delay: time.delay,
      handle: () => Promise.reject(new Error('worked on')),
      onError: (_key, error) => {
        throw error as Error;
      },
      metrics: { worked: nothing, retried: nothing },
    },
    AbortSignal.abort(),
  );
});

test('a backoff with a limit ends at that time at the latest', async () => {
  const loop = startLoop(() => Promise.resolve({ backoffUntil: loop.time.clock() + 3 }));
  loop.queue.add('a');
  await loop.time.advance(0);
  assert.equal(loop.handled.length, 1);
  await loop.time.advance(3);
  assert.equal(loop.handled.length, 2);
  assert.equal(loop.counts.retried, 2);
  loop.stop();
  await loop.ended;
});

test('a key that lends its seat takes no worker, and the loop ends with it in a pause', async () => {
  const recorded = Promise.withResolvers<undefined>();
  const loop: Loop = startLoop(() => loop.concurrency.lend(() => recorded.promise), 4);
  for (let index = 0; index < 50; index += 1) loop.queue.add(`key-${index}`);
  for (let round = 0; round < 20; round += 1) await loop.time.advance(BATCH_WAIT_MS);
  assert.equal(loop.concurrency.lent, INITIAL_IN_FLIGHT);
  assert.equal(loop.handled.length, INITIAL_IN_FLIGHT + 4);
  loop.concurrency.observe({ begun: loop.time.clock() + 1, status: 429, retryAfter: 60_000 });
  loop.stop();
  recorded.resolve(undefined);
  await loop.ended;
  assert.deepEqual([loop.errors, loop.concurrency.lent], [[], 0]);
});
