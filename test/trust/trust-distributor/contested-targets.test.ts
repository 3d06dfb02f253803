// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ContestedTargets,
  contentsOf,
  lastWriter,
} from '#trust/trust-distributor/contested-targets.ts';
import { workloadOf } from '../../workloads/refresh/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OWN = 'countersign-trust-distributor';

test('a caBundle that another writer replaces at once is written ever more rarely', () => {
  const contested = new ContestedTargets();
  const writes: number[] = [];
  for (let now = 0; now < 6 * HOUR; now += 1000) {
    if (contested.heldUntil('x', 'ours', now) !== undefined) continue;
    contested.wrote('x', 'ours', now);
    writes.push(now);
  }
  assert.deepEqual(writes.slice(0, 3), [0, 1000, 2000]);
  const gaps = writes.slice(2).map((at, index) => (writes[index + 3] ?? NaN) - at);
  assert.deepEqual(gaps.slice(0, 4), [10_000, 20_000, 40_000, 80_000]);
  assert.ok(gaps.every((gap) => Number.isNaN(gap) || gap <= 10 * MINUTE));
  assert.ok(writes.length < 50, `${writes.length} writes in six hours`);
});

test('other anchors are written at once, and so are the same after a quiet hour', () => {
  const contested = new ContestedTargets();
  for (let at = 0; at < 5; at += 1) contested.wrote('x', 'ours', at);
  assert.equal(contested.contestedUntil('x', 5), 4 + 20 * MINUTE);
  assert.equal(contested.contestedUntil('x', 4 + 20 * MINUTE), undefined);
  assert.equal(contested.contestedUntil('y', 5), undefined);
  assert.equal(contested.heldUntil('x', 'next', 5), undefined);
  assert.equal(contested.heldUntil('y', 'ours', 5), undefined);
  assert.equal(contested.heldUntil('x', 'ours', 5 + HOUR), undefined);
  contested.wrote('x', 'ours', 5 + HOUR);
  assert.equal(contested.heldUntil('x', 'ours', 6 + HOUR), undefined, 'the first of a new count');
});

test('only as many targets are remembered as are written in a while', () => {
  const contested = new ContestedTargets();
  for (let at = 0; at < 3; at += 1) contested.wrote('x', 'ours', at);
  for (let index = 0; index < 9_999; index += 1) contested.wrote(`other-${index}`, 'ours', 3);
  assert.notEqual(contested.heldUntil('x', 'ours', 3), undefined);
  contested.wrote('one more', 'ours', 3);
  assert.equal(contested.heldUntil('x', 'ours', 3), undefined);
});

test('a writer that replaces one caBundle after another is delayed as well', () => {
  const contested = new ContestedTargets();
  for (let at = 0; at < 4; at += 1) {
    const places = [{ path: `/webhooks/${at}/clientConfig/caBundle`, text: 'ours' }];
    contested.wrote('x', contentsOf(places), at);
  }
  const both = [0, 1].map((index) => ({ path: `/webhooks/${index}`, text: 'ours' }));
  assert.notEqual(contested.heldUntil('x', contentsOf(both), 4), undefined);
  const next = [{ path: '/webhooks/0', text: 'next' }];
  assert.equal(contested.heldUntil('x', contentsOf(next), 4), undefined);
});

test('the writer is the manager that last wrote a caBundle, and never this component', () => {
  const { spec: _spec, ...object } = workloadOf({ namespace: 'a', name: 'b', secrets: [] });
  const fieldsV1 = {
    'f:webhooks': { 'k:{"name":"x"}': { 'f:clientConfig': { 'f:caBundle': {} } } },
  };
  const managedFields = [
    { manager: 'helm', time: '2026-01-01T00:00:00Z', fieldsV1 },
    { manager: 'cainjector', time: '2026-01-02T00:00:00Z', fieldsV1 },
    { manager: OWN, time: '2026-01-03T00:00:00Z', fieldsV1 },
    { manager: 'kubectl', time: '2026-01-04T00:00:00Z', fieldsV1: { 'f:metadata': {} } },
  ];
  const contested = { ...object, metadata: { ...object.metadata, managedFields } };
  assert.equal(lastWriter(contested, 'caBundle', OWN), 'cainjector');
  assert.equal(lastWriter(object, 'caBundle', OWN), undefined);
});
