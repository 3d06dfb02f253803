// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MEASURED } from '../../bench/scaling/costs.ts';
import { filled } from '../../bench/scaling/page.ts';
import { drain, killed } from '../../bench/scaling/scenarios.ts';
import { simulate } from '../../bench/scaling/simulate.ts';

const page = join(import.meta.dirname, '../../docs/explanation/scaling.md');
const shape = { apiCores: 4, shards: 1, replicas: 2 };

test('docs/explanation/scaling.md has the tables that make scaling writes', () => {
  const text = readFileSync(page, 'utf8');
  assert.equal(filled(text), text);
});

test('every request gets its certificate, and none before it is signed and stored', () => {
  const arrivals = Array.from({ length: 500 }, (_value, index) => index * 1_000);
  const { done } = simulate({ ...shape, costs: MEASURED, arrivals });
  const least = MEASURED.issue + MEASURED.write + MEASURED.store;
  assert.ok(done.every((end, index) => end - (arrivals[index] ?? 0) >= least));
});

test('one request alone takes what its steps take, and its events', () => {
  const { done } = simulate({ ...shape, costs: MEASURED, arrivals: [0] });
  assert.deepEqual(done, [1_230 + (1_390 + 3 * 2 * 50) + 340]);
});

test('no shape is faster than etcd stores, or than its replicas sign', () => {
  for (const replicas of [1, 2, 8]) {
    const { perSecond } = drain({ apiCores: 64, shards: 1, replicas });
    assert.ok(perSecond <= 1e6 / MEASURED.store);
    assert.ok(perSecond <= (replicas * 1e6) / MEASURED.issue);
  }
});

test('events make many replicas slow: without their cost no number is too many', () => {
  const free = { ...MEASURED, tell: 0, hear: 0 };
  const many = { apiCores: 4, shards: 1, replicas: 16 };
  assert.ok(drain(many, free).perSecond > 2 * drain(many).perSecond);
});

test('a killed replica costs its share, and no request more than the Lease', () => {
  const { affected, most } = killed(2, 15);
  assert.ok(affected > 0.4 && affected < 0.6);
  assert.ok(most > 14 && most < 15.5);
});
