// SPDX-License-Identifier: Apache-2.0
/** What waits for a target: bounded, counted, and fair. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Outbox, type OutgoingEvent } from '#notify/notifier/delivery/outbox.ts';

let made = 0;
const event = (flow: string, body = 'x', since = 0): OutgoingEvent => ({
  id: String((made += 1)),
  flow,
  body,
  since,
  mark: { kind: 'due', at: 0 },
});

type Step =
  | { readonly kind: 'push'; readonly flow: string; readonly size: number }
  | { readonly kind: 'next' | 'done' | 'back' | 'rest' | 'clear' };

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('push' as const),
      flow: fc.constantFrom('a', 'b', 'c', 'd'),
      size: fc.nat(40),
    }),
    fc.record({
      kind: fc.constantFrom(
        ...(['next', 'next', 'next', 'done', 'back', 'rest', 'clear'] as const),
      ),
    }),
  ),
  { maxLength: 200 },
);

test('stays within bounds except for events in flight; each is held, sent or dropped', () => {
  fc.assert(
    fc.property(steps, (taken: readonly Step[]) => {
      const limits = { events: 10, size: 200 };
      const box = new Outbox(limits);
      const ids = new Set<string>();
      const gone = new Set<string>();
      const sending: OutgoingEvent[] = [];
      for (const [now, step] of taken.entries()) {
        if (step.kind === 'push') {
          const pushed = event(step.flow, 'x'.repeat(step.size));
          ids.add(pushed.id);
          for (const { id } of box.push(pushed)) {
            assert.ok(!gone.has(id));
            gone.add(id);
          }
        } else if (step.kind === 'next') {
          const found = box.next(now);
          if (found !== undefined) sending.push(found);
        } else if (step.kind === 'clear') {
          for (const { id } of box.pending()) gone.add(id);
          box.clear();
        } else {
          const found = sending.shift();
          if (found === undefined) continue;
          if (step.kind === 'back') box.putBack(found);
          else if (step.kind === 'rest') box.putBackAndPause(found, now, () => 2);
          else box.done(found);
          if (step.kind === 'done') gone.add(found.id);
        }
        const inside = [...box.pending()];
        assert.equal(inside.length, box.length);
        assert.deepEqual(
          new Set(inside.map(({ id }) => id)),
          new Set([...ids].filter((id) => !gone.has(id))),
        );
        const size = inside.reduce((sum, { body }) => sum + body.length, 0);
        assert.ok(box.length <= Math.max(limits.events, sending.length));
        assert.ok(size <= limits.size || box.length === sending.length);
      }
    }),
  );
});

test('flows take turns: a flood delays the first event of another flow by one of each', () => {
  const box = new Outbox({ events: 1000, size: 1e6 });
  for (let each = 0; each < 500; each += 1) box.push(event('flood'));
  box.push(event('quiet'));
  box.push(event('calm'));
  const first = [box.next(0), box.next(0), box.next(0)].map((each) => each?.flow);
  assert.deepEqual(first.toSorted(), ['calm', 'flood', 'quiet']);
});

test('who floods loses events of its own, the oldest, and nobody else loses any', () => {
  const box = new Outbox({ events: 100, size: 1e6 });
  for (let each = 0; each < 20; each += 1) box.push(event('quiet'));
  const lost: OutgoingEvent[] = [];
  for (let each = 0; each < 1000; each += 1) lost.push(...box.push(event('flood')));
  assert.equal(lost.length, 920);
  assert.ok(lost.every(({ flow }) => flow === 'flood'));
  const ids = lost.map(({ id }) => Number(id));
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});

test('a refused flow backs off, and sends one event at a time until one is taken', () => {
  const box = new Outbox({ events: 100, size: 1e6 });
  for (let each = 0; each < 3; each += 1) box.push(event('bad'));
  const rests = [0, 1, 2].map((failures) => {
    const found = box.next(100 * failures);
    assert.ok(found);
    box.putBackAndPause(found, 100 * failures, (before) => 10 * 2 ** before);
    assert.equal(box.next(100 * failures + 9), undefined);
    return box.restsUntil() - 100 * failures;
  });
  assert.deepEqual(rests, [10, 20, 40]);
  box.push(event('good'));
  assert.equal(box.next(201)?.flow, 'good');
  const trial = box.next(240);
  assert.equal(trial?.flow, 'bad');
  assert.equal(box.next(240), undefined);
  box.done(trial);
  assert.equal(box.next(240)?.flow, 'bad');
  assert.equal(box.next(240)?.flow, 'bad');
});

test('what was cleared while it was sent does not come back', () => {
  const box = new Outbox({ events: 100, size: 1e6 });
  for (const flow of ['a', 'b', 'c']) box.push(event(flow));
  const [first, second, third] = [box.next(0), box.next(0), box.next(0)];
  assert.ok(first && second && third);
  box.clear();
  box.putBack(first);
  box.putBackAndPause(second, 0, () => 1);
  box.done(third);
  assert.deepEqual([...box.pending()], []);
  assert.equal(box.length, 0);
});

test('what has waited for too long is taken out, and nothing else', () => {
  const box = new Outbox({ events: 100, size: 1e6 });
  for (const since of [1, 5, 9]) box.push(event('a', 'x', since));
  assert.deepEqual(
    box.takeOlder(5).map(({ since }) => since),
    [1],
  );
  assert.equal(box.length, 2);
});
