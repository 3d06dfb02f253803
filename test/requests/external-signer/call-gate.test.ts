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
/** Callers that are deleted, and callers that do not come when they are woken. */
let gone: Set<string>;
let silent: Set<string>;
beforeEach(() => {
  time = fakeTime();
  const random = (size: number): Uint8Array => new Uint8Array(size);
  gate = createCallGate({ ...time, random, onPause: () => undefined });
  [served, turns] = [[], []];
  [busy, gone, silent] = [new Set(), new Set(), new Set()];
});

/** Lets a caller come, and come again whenever it is woken. */
async function come(id: string): Promise<void> {
  busy.delete(id);
  const turn = await gate.enter({
    id,
    flow: id.split('-')[0] ?? '',
    wake: () => {
      if (gone.has(id)) return false;
      if (!silent.has(id)) void come(id);
      return true;
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

test('callers that do not come when they are woken do not stop the others', async () => {
  for (const id of names('a', 200)) void come(id);
  void come('a-last');
  silent = new Set(names('a', 200));
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

/** Milliseconds from a wake until the caller comes, and of a call. */
const ARRIVAL_MS = 20;
const CALL_MS = 20;

/** Lets callers come as a loop does: a while after they are queued, and each once at a time. */
class Arrivals {
  /** How often each caller came. */
  readonly visits = new Map<string, number>();
  /** Callers in progress. True if they were woken meanwhile. */
  readonly #atWork = new Map<string, boolean>();

  async come(id: string): Promise<void> {
    if (this.#atWork.has(id)) {
      this.#atWork.set(id, true);
      return;
    }
    this.#atWork.set(id, false);
    await time.delay(ARRIVAL_MS);
    this.visits.set(id, (this.visits.get(id) ?? 0) + 1);
    const turn = await gate.enter({
      id,
      flow: id.split('-')[0] ?? '',
      wake: () => {
        void this.come(id);
        return true;
      },
    });
    const isWoken = this.#atWork.get(id) === true;
    this.#atWork.delete(id);
    if (typeof turn === 'string') {
      if (isWoken) await this.come(id);
      return;
    }
    served.push(id);
    await time.delay(CALL_MS);
    turn.end('answered');
  }
}

test('callers of one flow are served in the order in which they came', async () => {
  const arrivals = new Arrivals();
  const all = names('a', 300);
  for (const id of all) void arrivals.come(id);
  await time.advance(60_000);
  assert.deepEqual(served, all);
});

test('a caller that waits comes once more, when there is a place for it', async () => {
  const arrivals = new Arrivals();
  for (const id of [...names('a', 150), ...names('b', 150)]) void arrivals.come(id);
  await time.advance(60_000);
  assert.equal(served.length, 300);
  assert.equal(Math.max(...arrivals.visits.values()), 2);
});

test('a caller that leaves gives its place to the next one at once', async () => {
  const all = names('a', 40);
  silent = new Set(all.slice(9, 17));
  for (const id of all) void come(id);
  await endAll();
  assert.equal(served.length, 9);
  for (const id of silent) gate.leave({ id, flow: 'a' });
  await endAll();
  assert.equal(served.length, 32);
});

test('callers that are gone leave their places to the next ones at once', async () => {
  const all = names('a', 100);
  for (const id of all) void come(id);
  gone = new Set(all.slice(9, 90));
  await endAll();
  assert.equal(served.length, 19);
});

test('a woken caller that comes late has the next place', async () => {
  silent = new Set(['a-9']);
  for (const id of names('a', 60)) void come(id);
  await time.advance(0);
  turns.shift()?.end('answered');
  // Another caller has its place meanwhile.
  await time.advance(2_000);
  void come('a-9');
  await time.advance(0);
  assert.ok(busy.has('a-9'));
  await endAll();
  assert.ok(served.indexOf('a-9') < served.indexOf('a-13'), served.join(' '));
});

test('a clock that is set back does not prolong a pause, or the next one', async () => {
  let setBackMs = 0;
  const random = (size: number): Uint8Array => new Uint8Array(size);
  const clock = (): number => time.clock() - setBackMs;
  gate = createCallGate({ ...time, clock, random, onPause: () => undefined });
  for (const id of ['a', 'b']) {
    await come(id);
    turns.pop()?.end('unavailable');
    assert.notEqual(gate.pausedUntil(), undefined);
    setBackMs += 3_600_000;
    await time.advance(5_000);
    assert.equal(gate.pausedUntil(), undefined);
  }
});

test('a pause that a clock that is set back has ended does not come again', async () => {
  let setBackMs = 0;
  const random = (size: number): Uint8Array => new Uint8Array(size);
  const clock = (): number => time.clock() - setBackMs;
  gate = createCallGate({ ...time, clock, random, onPause: () => undefined });
  await come('a');
  turns.pop()?.end('unavailable', 600_000);
  setBackMs = 3_600_000;
  assert.equal(gate.pausedUntil(), undefined);
  await time.advance(3_600_000);
  assert.equal(gate.pausedUntil(), undefined);
});
