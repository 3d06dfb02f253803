// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import { createOrphanTakeover, type OrphanTakeover } from '#requests/loop/orphan-takeover.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

/** Twice the duration of a Lease. */
const TAKEOVER_AFTER_MS = 30_000;

let time: FakeTime;
let pending: Map<string, KubeObject>;
let queued: string[];
let depth: number;
let rescue: OrphanTakeover;
let stop: AbortController;
beforeEach(() => {
  time = fakeTime();
  pending = new Map();
  queued = [];
  depth = 0;
  stop = new AbortController();
  const queue = {
    add: (key: string) => queued.push(key),
    get depth() {
      return depth;
    },
  };
  const component = recordedComponent({
    clock: time.clock,
    delay: time.delay,
    shard: { owns: (uid) => uid.startsWith('mine'), onChange: () => undefined },
    queue: queue as never,
  });
  rescue = createOrphanTakeover({ component, pending: () => pending });
  void rescue.run(stop.signal);
});
afterEach(() => {
  stop.abort(new Error('stopped'));
});

function add(key: string, uid: string, resourceVersion = '1'): void {
  const creationTimestamp = new Date(time.clock()).toISOString();
  const metadata = { name: key, uid, resourceVersion, creationTimestamp };
  pending.set(key, { apiVersion: 'v1', kind: 'Thing', metadata });
}

test('an overdue request of another replica is taken over once', async () => {
  add('theirs', 'theirs-1');
  add('ours', 'mine-1');
  await time.advance(TAKEOVER_AFTER_MS - 1);
  assert.deepEqual(queued, []);
  assert.equal(rescue.claims('theirs'), false);
  await time.advance(5_001);
  assert.deepEqual(queued, ['theirs']);
  assert.equal(rescue.claims('theirs'), true);
  assert.equal(rescue.claims('theirs'), false);
  rescue.settle('theirs');
  await time.advance(3_600_000);
  assert.deepEqual(queued, ['theirs']);
});

test('an overdue request that changes is taken over again', async () => {
  add('a', 'theirs-1');
  await time.advance(TAKEOVER_AFTER_MS + 5_000);
  const { creationTimestamp } = pending.get('a')?.metadata ?? { creationTimestamp: '' };
  add('a', 'theirs-1', '2');
  Object.assign(pending.get('a')?.metadata ?? {}, { creationTimestamp });
  await time.advance(5_000);
  assert.deepEqual(queued, ['a', 'a']);
});

test('a replica with queued requests takes over none', async () => {
  add('a', 'theirs-1');
  depth = 1;
  await time.advance(TAKEOVER_AFTER_MS + 60_000);
  assert.deepEqual(queued, []);
  depth = 0;
  await time.advance(5_000);
  assert.deepEqual(queued, ['a']);
});

test('overdue requests are taken over in batches, newest first, until none is left', async () => {
  for (let index = 0; index < 1_200; index += 1) add(`r${index}`, `theirs-${index}`);
  await time.advance(TAKEOVER_AFTER_MS);
  assert.equal(queued.length, 500);
  assert.equal(queued.at(-1), 'r1199');
  await time.advance(10_000);
  assert.equal(new Set(queued).size, 1_200);
  for (const key of queued) rescue.settle(key);
  await time.advance(60_000);
  assert.equal(queued.length, 1_200);
});

test('a takeover that fails is repeated with backoff, until it is settled', async () => {
  add('a', 'theirs-1');
  const times: number[] = [];
  const began = time.clock();
  while (time.clock() < began + 4_000_000) {
    await time.advance(5_000);
    if (rescue.claims('a')) times.push((time.clock() - began) / 1_000);
  }
  const waits = times.slice(1).map((each, index) => each - (times[index] ?? 0));
  for (const [index, base] of [30, 60, 120, 240, 480, 600, 600].entries()) {
    const wait = waits[index] ?? 0;
    // Jitter of a half, and the next sweep.
    assert.ok(wait >= base && wait <= 1.5 * base + 5, `${wait} s for ${base}`);
  }
  rescue.settle('a');
  await time.advance(4_000_000);
  assert.equal(rescue.claims('a'), false);
});

test('of many failed takeovers a few repeat at once, each with a turn before a second', async () => {
  for (let index = 0; index < 1_000; index += 1) add(`r${index}`, `theirs-${index}`);
  await time.advance(TAKEOVER_AFTER_MS + 10_000);
  const first = queued.length;
  assert.equal(first, 1_000);
  let most = 0;
  while (queued.length < first + 1_000) {
    const before = queued.length;
    await time.advance(5_000);
    most = Math.max(most, queued.length - before);
  }
  assert.equal(most, 50);
  assert.equal(new Set(queued.slice(first)).size, 1_000);
});

test('a request that was answered or deleted is forgotten', async () => {
  add('a', 'theirs-1');
  await time.advance(TAKEOVER_AFTER_MS + 5_000);
  pending.delete('a');
  await time.advance(3_600_000);
  assert.deepEqual(queued, ['a']);
});
