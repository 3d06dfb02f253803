// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { createBackoffGroups, type BackoffGroups } from '#requests/loop/backoff-groups.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

/** As client-go's longest delay. */
const MAX_REST_MS = 1_000_000;

let time: FakeTime;
let waits: BackoffGroups;
let woken: string[];
/** Who is to look after how long, the last that was said of each. */
let scouts: [string, number][];
beforeEach(() => {
  time = fakeTime();
  woken = [];
  scouts = [];
  waits = createBackoffGroups({
    clock: time.clock,
    random: (size) => new Uint8Array(size),
    wake: (key) => woken.push(key),
    wakeAfter: (key, milliseconds) => scouts.push([key, milliseconds]),
  });
});

const CAUSE = 'example.com/workload AuthorityMissing';

test('a request that waits alone is retried at once, then with backoff up to 30 s', () => {
  const looks = Array.from({ length: 16 }, () => waits.join('a', CAUSE));
  assert.deepEqual(looks.slice(0, 4), [5, 10, 20, 40]);
  assert.deepEqual(looks.slice(-2), [30_000, 30_000]);
});

test('of many requests with one cause, one is retried soon and the others back off', () => {
  assert.equal(waits.join('a', CAUSE), 5);
  const rests = Array.from({ length: 8 }, () => waits.join('b', CAUSE));
  assert.deepEqual(rests.slice(0, 3), [30_000, 60_000, 120_000]);
  assert.equal(rests.at(-1), MAX_REST_MS);
});

test('the retried request changes each time, as its failure may have its own cause', () => {
  for (const key of ['a', 'b', 'c']) waits.join(key, CAUSE);
  assert.deepEqual(scouts, [['a', 5]]);
  for (const key of ['a', 'b', 'c', 'a']) waits.join(key, CAUSE);
  assert.deepEqual(
    scouts.map(([key]) => key),
    ['a', 'b', 'c', 'a', 'b'],
  );
  assert.deepEqual(
    scouts.map(([, wait]) => wait),
    [5, 10, 20, 40, 80],
  );
});

test('when one request passes the cause, all others of that cause are retried at once', () => {
  for (const key of ['a', 'b', 'c']) waits.join(key, CAUSE);
  waits.join('other', 'example.com/other AuthorityMissing');
  waits.solved('b');
  assert.deepEqual(woken, ['a', 'c']);
  woken.length = 0;
  waits.solved('a');
  assert.deepEqual(woken, [], 'they are told once');
  assert.equal(waits.join('a', CAUSE), 5, 'and what comes later is a new cause');
});

test('a request that fails with another cause counts as past the first one', () => {
  for (const key of ['a', 'b']) waits.join(key, CAUSE);
  waits.join('a', 'example.com/workload AnchorNotServed');
  assert.deepEqual(woken, ['b']);
});

test('if the request to retry is deleted, another takes its place', () => {
  for (const key of ['a', 'b', 'c']) waits.join(key, CAUSE);
  waits.forget('a');
  assert.deepEqual(
    scouts.map(([key]) => key),
    ['a', 'b'],
  );
  assert.deepEqual(woken, [], 'that it has gone says nothing of the others');
  waits.forget('c');
  assert.equal(scouts.length, 2);
  waits.forget('b');
  assert.equal(waits.join('d', CAUSE), 5, 'of a cause without anybody nothing is left');
});

test('ten thousand requests with one cause are retried at most twenty a second', async () => {
  const due = Array.from({ length: 10_000 }, (_each, index) => waits.join(`key-${index}`, CAUSE));
  const within = (ms: number): number => due.filter((each) => each <= ms).length;
  assert.ok(within(30_000) <= 100 + 20 * 30 + 1, `${within(30_000)} in the first half minute`);
  assert.ok(within(300_000) <= 100 + 20 * 300 + 1);
  assert.ok(Math.max(...due) <= MAX_REST_MS);
  await time.advance(0);
});
