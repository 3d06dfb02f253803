// SPDX-License-Identifier: Apache-2.0
/** What waits for a target: bounded, counted, and fair. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Outbox, type Outgoing } from '../../../src/controllers/notifier/delivery/outbox.ts';

let made = 0;
const event = (flow: string, body = 'x', since = 0): Outgoing => ({
  ...{ id: String((made += 1)), flow, body, since },
  mark: { kind: 'due', at: 0 },
});

type Step =
  | { readonly kind: 'push'; readonly flow: string; readonly size: number }
  | { readonly kind: 'next' | 'done' | 'back' };

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('push' as const),
      flow: fc.constantFrom('a', 'b', 'c', 'd'),
      size: fc.nat(40),
    }),
    fc.record({ kind: fc.constantFrom('next' as const, 'done' as const, 'back' as const) }),
  ),
  { maxLength: 200 },
);

test('never more than the bounds, but for what is being sent; each event is in it, done or dropped', () => {
  fc.assert(
    fc.property(steps, (taken: readonly Step[]) => {
      const limits = { events: 10, size: 200 };
      const box = new Outbox(limits);
      const ids = new Set<string>();
      const gone = new Set<string>();
      const sending: Outgoing[] = [];
      for (const step of taken) {
        if (step.kind === 'push') {
          const pushed = event(step.flow, 'x'.repeat(step.size));
          ids.add(pushed.id);
          for (const { id } of box.push(pushed)) {
            assert.ok(!gone.has(id));
            gone.add(id);
          }
        } else if (step.kind === 'next') {
          const found = box.next();
          if (found !== undefined) sending.push(found);
        } else {
          const found = sending.shift();
          if (found === undefined) continue;
          if (step.kind === 'back') box.back(found);
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

test('flows take turns: whoever floods, the first of any other flow is next but for one of each', () => {
  const box = new Outbox({ events: 1000, size: 1e6 });
  for (let each = 0; each < 500; each += 1) box.push(event('flood'));
  box.push(event('quiet'));
  box.push(event('calm'));
  const first = [box.next(), box.next(), box.next()].map((each) => each?.flow);
  assert.deepEqual(first.toSorted(), ['calm', 'flood', 'quiet']);
});

test('who floods loses events of its own, the oldest, and nobody else loses any', () => {
  const box = new Outbox({ events: 100, size: 1e6 });
  for (let each = 0; each < 20; each += 1) box.push(event('quiet'));
  const lost: Outgoing[] = [];
  for (let each = 0; each < 1000; each += 1) lost.push(...box.push(event('flood')));
  assert.equal(lost.length, 920);
  assert.ok(lost.every(({ flow }) => flow === 'flood'));
  const ids = lost.map(({ id }) => Number(id));
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
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
