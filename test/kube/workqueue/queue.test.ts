// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createQueue, type Queue, type QueueMetrics } from '#kube/workqueue/queue.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';

const quiet: QueueMetrics = {
  added: () => undefined,
  depth: () => undefined,
  waited: () => undefined,
};

const zeros = (size: number): Uint8Array => new Uint8Array(size);

function queueOf(...keys: string[]): Queue {
  const queue = createQueue(fakeTime().clock, quiet, zeros);
  keys.forEach(queue.add);
  return queue;
}

test('keys are first in, first out', async () => {
  const queue = queueOf('a', 'b', 'c');
  assert.deepEqual([await queue.take(), await queue.take(), await queue.take()], ['a', 'b', 'c']);
});

test('a key that is added many times before a worker takes it is processed once', async () => {
  const queue = queueOf('a', 'a', 'a');
  assert.equal(queue.depth, 1);
  assert.equal(await queue.take(), 'a');
  queue.done('a');
  assert.equal(queue.depth, 0);
});

test('a key that is added while it is processed is queued once more, after done', async () => {
  const queue = queueOf('a');
  await queue.take();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.depth, 0);
  queue.done('a');
  assert.equal(queue.depth, 1);
  assert.equal(await queue.take(), 'a');
  queue.done('a');
  assert.equal(queue.depth, 0);
});

test('a waiting worker gets the key at once, the longest-waiting worker first', async () => {
  const queue = queueOf();
  const [first, second] = [queue.take(), queue.take()];
  queue.add('a');
  queue.add('b');
  assert.deepEqual(await Promise.all([first, second]), ['a', 'b']);
});

test('a queue that is shut down gives workers undefined, even if keys are left', async () => {
  const idle = queueOf();
  const waiting = idle.take();
  idle.shutDown();
  assert.equal(await waiting, undefined);

  const full = queueOf('a', 'b');
  await full.take();
  full.add('a');
  full.shutDown();
  full.done('a');
  full.add('c');
  assert.equal(await full.take(), undefined);
});

test('the queue’s metrics count adds, depth, queue time and unfinished work', async () => {
  const time = fakeTime();
  const seen: (string | number)[] = [];
  const queue = createQueue(
    time.clock,
    {
      added: () => seen.push('added'),
      depth: (count) => seen.push('depth', count),
      waited: (seconds) => seen.push('waited', seconds),
    },
    zeros,
  );
  queue.add('a');
  queue.add('a');
  await time.advance(1_500);
  await queue.take();
  assert.deepEqual(seen, ['added', 'depth', 1, 'depth', 0, 'waited', 1.5]);
  queue.add('b');
  await queue.take();
  await time.advance(2_000);
  assert.deepEqual(queue.unfinished(), { total: 4, longest: 2 });
  queue.done('a');
  queue.done('b');
  assert.deepEqual(queue.unfinished(), { total: 0, longest: 0 });
});

test('200,000 keys stay in order', async () => {
  const keys = Array.from({ length: 200_000 }, (_each, index) => `namespace/request-${index}`);
  const queue = queueOf(...keys.slice(0, 1));
  keys.forEach(queue.add);
  for (const key of keys) {
    assert.equal(await queue.take(), key);
    queue.done(key);
  }
});

test('no two workers ever process one key, and every add is followed by a take', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ kind: fc.constant('take' as const) }),
    fc.record({ kind: fc.constant('done' as const), pick: fc.nat() }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queue = queueOf();
      const working: string[] = [];
      const owed = new Set<string>();
      const take = async (): Promise<void> => {
        const key = await queue.take();
        assert.ok(
          key !== undefined && !working.includes(key),
          `${String(key)} is with two workers`,
        );
        assert.ok(owed.delete(key), `${key} was handed out for nothing`);
        working.push(key);
      };
      const finish = (index: number): void => {
        for (const key of working.splice(index, 1)) queue.done(key);
      };
      for (const each of steps) {
        if (each.kind === 'add') {
          owed.add(each.key);
          queue.add(each.key);
        } else if (each.kind === 'take' && queue.depth > 0) await take();
        else if (each.kind === 'done' && working.length > 0) finish(each.pick % working.length);
      }
      while (queue.depth > 0 || working.length > 0) {
        if (queue.depth > 0) await take();
        else finish(0);
      }
      assert.deepEqual([...owed], []);
    }),
  );
});
