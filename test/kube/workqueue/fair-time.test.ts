// SPDX-License-Identifier: Apache-2.0
/** Flows share the time of the process, not the number of items. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairQueue, type FairQueue } from '#kube/workqueue/fair-queue.ts';

/** One worker on a clock of its own; an item `flow ms` takes its milliseconds. */
class Worker {
  readonly queue: FairQueue<string> = createFairQueue((size) => new Uint8Array(size));
  now = 0;
  readonly spent = new Map<string, number>();

  add(flow: string, ms: number): void {
    this.queue.push(`${flow} ${ms}`, { distinguishers: [flow] });
  }

  /** Works one item off. */
  work(): string {
    const [flow = '', ms = ''] = (this.queue.shift() ?? '').split(' ');
    this.now += Number(ms);
    this.spent.set(flow, (this.spent.get(flow) ?? 0) + Number(ms));
    this.queue.charge(flow, Number(ms));
    return flow;
  }
}

test('a flow whose items take 100 ms and one whose take 1 ms share time, not counts', () => {
  const worker = new Worker();
  for (let index = 0; index < 10_000; index += 1) {
    worker.add('slow', 100);
    worker.add('quick', 1);
  }
  while (worker.now < 10_000) worker.work();
  const [slow, quick] = ['slow', 'quick'].map((flow) => worker.spent.get(flow) ?? 0);
  assert.ok(Math.abs((slow ?? 0) - (quick ?? 0)) <= 200, `${slow} ms to ${quick} ms`);
});

test('a flow that has one item at a time is charged as well', () => {
  const worker = new Worker();
  for (let index = 0; index < 10_000; index += 1) worker.add('quick', 1);
  worker.add('slow', 100);
  while (worker.now < 5_000) if (worker.work() === 'slow') worker.add('slow', 100);
  const [slow, quick] = ['slow', 'quick'].map((flow) => worker.spent.get(flow) ?? 0);
  assert.ok(Math.abs((slow ?? 0) - (quick ?? 0)) <= 200, `${slow} ms to ${quick} ms`);
});

test('one item a second beside a burst of 100 ms each waits for one of them at most', () => {
  const worker = new Worker();
  for (let index = 0; index < 1_000; index += 1) worker.add('hostile', 100);
  worker.work();
  for (let second = 1; second <= 60; second += 1) {
    while (worker.now < second * 1_000) worker.work();
    worker.add('victim', 1);
    let others = 0;
    while (worker.work() !== 'victim') others += 1;
    assert.ok(others <= 1, `${others} others in second ${second}`);
  }
});

test('time spent long ago does not delay a flow once others had their share', () => {
  const worker = new Worker();
  worker.queue.charge('past', 1_000_000);
  for (let index = 0; index < 5_000; index += 1) worker.add('other', 1);
  worker.add('past', 1);
  let others = 0;
  while (worker.work() !== 'past') others += 1;
  assert.ok(others <= 1_001, `${others} others`);
});

test('a flow served by shiftOf still pays what it was charged', () => {
  const worker = new Worker();
  worker.add('heavy', 1);
  worker.queue.charge('heavy', 1_000);
  for (let index = 0; index < 50; index += 1) worker.add('quick', 1);
  assert.equal(
    worker.queue.shiftOf((flow) => flow === 'heavy'),
    'heavy 1',
  );
  worker.add('heavy', 1);
  let others = 0;
  while (worker.work() !== 'heavy') others += 1;
  assert.equal(others, 50);
});

test('shiftOf prefers a flow that owes nothing to one that came earlier', () => {
  const worker = new Worker();
  worker.add('heavy', 1);
  worker.add('light', 1);
  worker.queue.charge('heavy', 1_000);
  const next = (): string | undefined => worker.queue.shiftOf(() => true);
  assert.deepEqual([next(), next(), next()], ['light 1', 'heavy 1', undefined]);
});
