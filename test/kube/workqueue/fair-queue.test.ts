// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFairQueue, type FairQueue } from '#kube/workqueue/fair-queue.ts';

const order = (): FairQueue<string> => createFairQueue((size) => new Uint8Array(size).fill(7));

/** How many others are handed out before `item`. */
function waitOf(waiting: FairQueue<string>, item: string): number {
  for (let others = 0; ; others += 1) {
    const next = waiting.shift();
    assert.notEqual(next, undefined, `${item} was lost`);
    if (next === item) return others;
  }
}

const STORM = 10_000;
/** Distinguishers with a flow of their own, and flows that the others share (flows.ts). */
const MAX_FLOWS = 4_096;
const SHARED_FLOWS = 64;

test('items without a flow are first in, first out', () => {
  const waiting = order();
  for (const each of ['a', 'b', 'c']) waiting.push(each, { distinguishers: [] });
  assert.deepEqual([1, 2, 3, 4].map(waiting.shift), ['a', 'b', 'c', undefined]);
});

test('items of one flow are first in, first out', () => {
  const waiting = order();
  for (const each of ['a1', 'b1', 'a2', 'b2', 'a3'])
    waiting.push(each, { distinguishers: [each.charAt(0)] });
  assert.deepEqual([1, 2, 3, 4, 5].map(waiting.shift), ['a1', 'b1', 'a2', 'b2', 'a3']);
});

test('10,000 requests of one namespace delay another by one turn of each flow', () => {
  const waiting = order();
  const nodes = 100;
  for (let index = 0; index < STORM; index += 1) {
    waiting.push(`storm-${index}`, { distinguishers: ['ns storm', `node ${index % nodes}`] });
  }
  waiting.push('victim', { distinguishers: ['ns quiet', 'node 5'] });
  assert.ok(waitOf(waiting, 'victim') <= nodes + 1);
});

test('10,000 requests of one node delay another node by one turn of each flow', () => {
  const waiting = order();
  const namespaces = 200;
  for (let index = 0; index < STORM; index += 1) {
    waiting.push(`storm-${index}`, { distinguishers: [`ns ${index % namespaces}`, 'node storm'] });
  }
  waiting.push('victim', { distinguishers: ['ns 5', 'node quiet'] });
  assert.ok(waitOf(waiting, 'victim') <= namespaces + 1);
});

test('during an endless burst another flow’s item waits for one turn of each flow', () => {
  const waiting = order();
  for (let index = 0; index < 1_000; index += 1)
    waiting.push(`s${index}`, { distinguishers: ['storm'] });
  for (let round = 0; round < 500; round += 1) {
    waiting.push(`victim-${round}`, { distinguishers: [`quiet ${round % 3}`] });
    for (let storm = 0; storm < 20; storm += 1) {
      waiting.push(`s${round}-${storm}`, { distinguishers: ['storm'] });
    }
    assert.ok(waitOf(waiting, `victim-${round}`) <= 2);
  }
});

// The law itself: the n-th of any of its flows waits for at most n turns of every flow there is.
test('an item waits at most a turn of each flow per item ahead in its shortest flow', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const step = fc.oneof(
    fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }),
    fc.constant('shift' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const waiting = order();
      const pending = new Map<string, { flows: readonly string[]; patience: number }>();
      let count = 0;
      const shift = (): void => {
        const next = waiting.shift();
        assert.equal(next === undefined, pending.size === 0);
        pending.delete(next ?? '');
        for (const [item, each] of pending) {
          each.patience -= 1;
          assert.ok(each.patience >= 0, `${item} waits too long`);
        }
      };
      for (const each of steps) {
        if (each === 'shift') shift();
        else {
          const flows = each.length === 0 ? [''] : each;
          const places = flows.map(
            (flow) =>
              1 + [...pending.values()].filter((other) => other.flows.includes(flow)).length,
          );
          const patience = Math.min(...places) * (names.length + 1);
          pending.set(`item-${(count += 1)}`, { flows, patience });
          waiting.push(`item-${count}`, { distinguishers: each });
        }
        assert.equal(waiting.length, pending.size);
      }
      while (pending.size > 0) shift();
    }),
  );
});

test('urgent items leave by deadline and take every second turn', () => {
  const waiting = order();
  for (const each of ['a', 'b', 'c']) waiting.push(each, { distinguishers: ['one'] });
  for (const deadline of [30, 10, 20, 40]) {
    waiting.push(`at ${deadline}`, { distinguishers: ['two'], deadline });
  }
  assert.deepEqual(Array.from({ length: 7 }, waiting.shift), [
    'at 10',
    'a',
    'at 20',
    'at 30',
    'at 40',
    'b',
    'c',
  ]);
});

test('a burst of urgent items does not starve others', () => {
  const waiting = order();
  for (let index = 0; index < STORM; index += 1) {
    waiting.push(`urgent-${index}`, { distinguishers: ['storm'], deadline: index });
  }
  waiting.push('victim', { distinguishers: ['quiet'] });
  assert.ok(waitOf(waiting, 'victim') <= 2 * 2);
});

test('the number of flows is bounded, and a flow beyond the bound does not starve', () => {
  const waiting = order();
  const many = 3 * MAX_FLOWS;
  for (let index = 0; index < many; index += 1) {
    for (const each of [1, 2, 3])
      waiting.push(`${index}-${each}`, { distinguishers: [`ns ${index}`] });
  }
  const newest = `${many - 1}-1`;
  const inShared = Math.ceil((3 * (many - MAX_FLOWS)) / SHARED_FLOWS);
  // Dealt evenly, with a tenth to spare: a hand of four finds a short one.
  assert.ok(waitOf(waiting, newest) <= 1.1 * inShared * (MAX_FLOWS + SHARED_FLOWS));
});

test('beyond the bound a burst fills one shared flow, and others are served by another', () => {
  const waiting = order();
  // Three: what is first of its flow at its turn leaves the flow full.
  for (let index = 0; index < MAX_FLOWS; index += 1) {
    for (const each of [1, 2, 3])
      waiting.push(`${index}-${each}`, { distinguishers: [`ns ${index}`] });
  }
  for (let index = 0; index < STORM; index += 1) {
    waiting.push(`storm-${index}`, { distinguishers: ['ns storm'] });
  }
  let late = 0;
  const victims = Array.from({ length: 50 }, (_each, index) => `victim-${index}`);
  for (const victim of victims) waiting.push(victim, { distinguishers: [`ns ${victim}`] });
  for (let taken = 0; taken < 2 * (MAX_FLOWS + SHARED_FLOWS); taken += 1) {
    if (waiting.shift()?.startsWith('victim') === true) late += 1;
  }
  assert.ok(late >= 45, `${late} of 50 were served within two turns`);
});

test('items that were handed out are released from memory', () => {
  const waiting = order();
  for (let index = 0; index < STORM; index += 1) {
    waiting.push(`deep-${index}`, { distinguishers: ['ns deep', 'node'], deadline: 1 });
  }
  // Each goes with its own namespace, long before the node's turn comes to it.
  for (let index = 0; index < 100_000; index += 1) {
    waiting.push(`quick-${index}`, { distinguishers: [`ns ${index}`, 'node'], deadline: 10 });
    waiting.shift();
    waiting.push(`again-${index}`, { distinguishers: ['ns deep', 'node'], deadline: 5 });
    waiting.shift();
    assert.ok(waiting.held <= 7 * waiting.length + 1_000);
  }
});
