// SPDX-License-Identifier: Apache-2.0
/** However many requests wait for a CA, few of them hold a worker, and all come in turn. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  createCallGate,
  type CallGate,
  type CallTurn,
} from '#requests/external-signer/call-gate.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';

let time: FakeTime;
let gate: CallGate;
/** Names of the callers in the order of their turns, and the turns that run. */
let served: string[];
let turns: CallTurn[];
let busy: Set<string>;
/** Callers that were deleted: they do not come when they are woken. */
let gone: Set<string>;
beforeEach(() => {
  time = fakeTime();
  const random = (size: number): Uint8Array => new Uint8Array(size);
  gate = createCallGate({ ...time, random, onPause: () => undefined });
  [served, turns, busy, gone] = [[], [], new Set(), new Set()];
});

/** Lets a caller come, and come again whenever it is woken. */
async function come(id: string): Promise<void> {
  busy.delete(id);
  const turn = await gate.enter({
    id,
    flow: id.split('-')[0] ?? '',
    wake: () => {
      if (!gone.has(id)) void come(id);
    },
  });
  if (turn === 'busy') busy.add(id);
  if (typeof turn === 'string') return;
  served.push(id);
  turns.push(turn);
}

/** Ends the calls that run one after the other, until none runs. */
async function endAll(): Promise<void> {
  await time.advance(0);
  for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
    turn.end('answered');
    await time.advance(0);
  }
}

const names = (flow: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${flow}-${index}`);

test('the gate lets one call go first, and one more for each answer', async () => {
  for (const id of names('a', 3)) void come(id);
  await time.advance(0);
  assert.equal(turns.length, 1);
  turns[0]?.end('answered');
  await time.advance(0);
  assert.equal(served.length, 3);
});

test('eight callers wait inside the gate, and all others hold nothing', async () => {
  for (const id of names('a', 100)) void come(id);
  await time.advance(0);
  assert.deepEqual([turns.length, busy.size], [1, 91]);
});

test('every caller gets a turn, once', async () => {
  const all = [...names('a', 100), ...names('b', 10)];
  for (const id of all) void come(id);
  await endAll();
  assert.deepEqual(served.toSorted(), all.toSorted());
});

test('a flow with few callers does not wait behind one with many', async () => {
  for (const id of names('a', 200)) void come(id);
  for (const id of names('b', 5)) void come(id);
  await endAll();
  const last = served.findLastIndex((id) => id.startsWith('b'));
  assert.ok(last < 40, `the last one is number ${last}`);
});

test('callers that are gone when they are woken do not stop the others', async () => {
  for (const id of names('a', 200)) void come(id);
  void come('a-last');
  gone = new Set(names('a', 200));
  await endAll();
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await time.advance(1_000);
    await endAll();
  }
  assert.ok(served.includes('a-last'));
});

test('a gate without callers has no timer', async () => {
  for (const id of names('a', 50)) void come(id);
  await endAll();
  await time.advance(2_000);
  assert.deepEqual(time.waits(), []);
});
