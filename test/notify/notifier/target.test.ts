// SPDX-License-Identifier: Apache-2.0
/** When a target is called again, on a simulated clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TargetEndpoint } from '#notify/notifier/delivery/endpoint.ts';
import { NotifiedTarget, type TargetInit } from '#notify/notifier/delivery/target.ts';
import { verdictOf, type CallVerdict } from '#notify/notifier/delivery/verdict.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { EVENT_NAMES } from '#api/object/event-names.ts';

interface Stage {
  readonly time: FakeTime;
  readonly component: RecordedComponent;
  readonly target: NotifiedTarget;
  /** When each call began, in seconds, and of which event. */
  readonly calls: (readonly [seconds: number, id: string])[];
  readonly stop: () => Promise<void>;
}

function staged(
  answer: (call: number, id: string) => CallVerdict | Promise<CallVerdict>,
  more: Partial<TargetInit> = {},
): Stage {
  const time = fakeTime();
  const start = time.clock();
  const component = recordedComponent({
    clock: time.clock,
    delay: time.delay,
    random: (size) => new Uint8Array(size),
  });
  const calls: [number, string][] = [];
  const endpoint: TargetEndpoint = {
    handshake: () => Promise.resolve({ kind: 'delivered' }),
    post: async ({ id }) => {
      calls.push([(time.clock() - start) / 1000, id]);
      return answer(calls.length, id);
    },
  };
  const target = new NotifiedTarget(component, {
    name: 'ops',
    endpoint,
    events: new Set(EVENT_NAMES),
    perSecond: 1000,
    deliveryTimeoutMs: 86_400_000,
    ...more,
  });
  const abort = new AbortController();
  const running = target.run(abort.signal);
  const stop = async (): Promise<void> => {
    abort.abort();
    await time.advance(0);
    await running;
  };
  return { time, component, target, calls, stop };
}

const push = (target: NotifiedTarget, id: string, flow = 'a'): void => {
  target.push({ id, flow, body: id, mark: { kind: 'due', at: 0 } });
};

const LATER: CallVerdict = { kind: 'later', why: 'it answers 500' };

test('retries an event after 1, 2, 4 s and so on, up to five minutes, until accepted', async () => {
  const stage = staged((call) => (call < 13 ? LATER : { kind: 'delivered' }));
  push(stage.target, 'e');
  await stage.time.advance(3_600_000);
  const gaps = stage.calls.map(([at], index) => at - (stage.calls[index - 1]?.[0] ?? 0)).slice(1);
  assert.deepEqual(gaps, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  assert.deepEqual([...stage.target.pending()], []);
  assert.equal(stage.target.fault, undefined);
  await stage.stop();
});

test('Retry-After is waited out, and an hour at most', async () => {
  const said = (value: string): CallVerdict =>
    verdictOf({ status: 429, headers: { 'retry-after': value }, body: Buffer.from('') }, 0);
  const stage = staged((call) => said(call === 1 ? '40' : '999999'));
  push(stage.target, 'e');
  await stage.time.advance(2 * 3_600_000);
  assert.deepEqual(
    stage.calls.map(([at]) => at),
    [0, 40, 3640],
  );
  await stage.stop();
});

test('410 ends the target: sends no more, and leaves the rest to a next process', async () => {
  const stage = staged((call) => (call === 1 ? { kind: 'gone' } : { kind: 'delivered' }));
  push(stage.target, 'e');
  await stage.time.advance(1000);
  push(stage.target, 'f');
  await stage.time.advance(48 * 3_600_000);
  assert.equal(stage.calls.length, 1);
  assert.equal(stage.target.isGone, true);
  assert.deepEqual(
    [...stage.target.pending()].map(({ id }) => id),
    ['e'],
  );
  await stage.stop();
});

test('one event that is never taken holds up no other, and is given up after its time', async () => {
  const stage = staged((_call, id) => (id === 'bad' ? LATER : { kind: 'delivered' }), {
    deliveryTimeoutMs: 600_000,
  });
  push(stage.target, 'bad', 'a');
  for (const id of ['1', '2', '3']) push(stage.target, id, 'b');
  await stage.time.advance(60_000);
  const taken = stage.calls.map(([, id]) => id).filter((id) => id !== 'bad');
  assert.deepEqual(taken.toSorted(), ['1', '2', '3']);
  await stage.time.advance(3_600_000);
  assert.deepEqual([...stage.target.pending()], []);
  const dropped = stage.component.counted.filter(([name]) => name === 'dropped');
  assert.deepEqual(dropped, [['dropped', { target: 'ops', reason: 'expired' }, 1]]);
  await stage.stop();
});

test('texts that a target refuses hold up the flow of who wrote them, and nobody else', async () => {
  const refused = verdictOf({ status: 403, headers: {}, body: Buffer.from('blocked') }, 0);
  const stage = staged((_call, id) => (id.startsWith('bad') ? refused : { kind: 'delivered' }));
  for (let each = 0; each < 50; each += 1) push(stage.target, `bad${each}`, 'a');
  await stage.time.advance(3_600_000);
  const before = stage.calls.length;
  assert.ok(before < 30, String(before));
  push(stage.target, 'good', 'b');
  await stage.time.advance(1_000);
  assert.deepEqual(stage.calls.slice(before), [[3600, 'good']]);
  assert.equal([...stage.target.pending()].length, 50);
  await stage.stop();
});

for (const status of [408, 429, 502, 503, 504])
  test(`a target that answers ${status} is away: it is asked once, whatever waits`, async () => {
    const answer = verdictOf({ status, headers: {}, body: Buffer.from('') }, 0);
    const stage = staged(() => answer);
    for (const flow of ['a', 'b', 'c', 'd', 'e']) push(stage.target, flow, flow);
    await stage.time.advance(500);
    assert.equal(stage.calls.length, 1);
    await stage.stop();
  });

test('another process sends what was in flight when this one lost its lead', async () => {
  const answer = Promise.withResolvers<CallVerdict>();
  const stage = staged(() => answer.promise);
  push(stage.target, 'e');
  await stage.time.advance(0);
  stage.target.clear();
  answer.resolve(LATER);
  await stage.time.advance(600_000);
  assert.equal(stage.calls.length, 1);
  assert.deepEqual([...stage.target.pending()], []);
  assert.equal(stage.target.fault, undefined);
  await stage.stop();
});

test('a fault ends with the lead, and its metric too', async () => {
  const stage = staged(() => LATER);
  push(stage.target, 'e');
  await stage.time.advance(10_000);
  assert.notEqual(stage.target.fault, undefined);
  stage.target.clear();
  assert.equal(stage.target.fault, undefined);
  const [, , since] = stage.component.counted.findLast(([name]) => name === 'failing') ?? [];
  assert.equal(since, 0);
  await stage.stop();
});

test('an event that is refused is dropped and counted, and the next is sent at once', async () => {
  const stage = staged((_call, id) =>
    id === 'bad' ? { kind: 'refused', why: 'it answers 422' } : { kind: 'delivered' },
  );
  push(stage.target, 'bad');
  push(stage.target, 'good');
  await stage.time.advance(1000);
  assert.deepEqual(
    stage.calls.map(([, id]) => id),
    ['bad', 'good'],
  );
  const dropped = stage.component.counted.filter(([name]) => name === 'dropped');
  assert.deepEqual(dropped, [['dropped', { target: 'ops', reason: 'refused' }, 1]]);
  await stage.stop();
});

test('no more calls a second than the rate, and four at once', async () => {
  const stage = staged(() => ({ kind: 'delivered' }), { perSecond: 10 });
  for (let each = 0; each < 200; each += 1) push(stage.target, String(each));
  await stage.time.advance(5_000);
  assert.ok(stage.calls.length <= 10 + 5 * 10 + 1, String(stage.calls.length));
  await stage.time.advance(60_000);
  assert.equal(stage.calls.length, 200);
  await stage.stop();
  const silent = staged(() => new Promise<never>(() => undefined));
  for (let each = 0; each < 50; each += 1) push(silent.target, String(each));
  await silent.time.advance(600_000);
  assert.ok(silent.calls.length <= 4);
});

test('a target that says no to the handshake gets nothing until it says yes', async () => {
  let allows = false;
  const posted: string[] = [];
  const stage = staged(() => ({ kind: 'delivered' }), {
    endpoint: {
      handshake: () =>
        Promise.resolve(
          allows ? { kind: 'delivered' } : { kind: 'refused', why: 'it answers 405' },
        ),
      post: ({ id }) => {
        posted.push(id);
        return Promise.resolve({ kind: 'delivered' });
      },
    },
  });
  push(stage.target, 'e');
  await stage.time.advance(60_000);
  assert.deepEqual(posted, []);
  allows = true;
  await stage.time.advance(300_000);
  assert.deepEqual(posted, ['e']);
  await stage.stop();
});
