// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { figure, MEASURED, WITH_FEATURES } from '../../bench/scaling/costs.ts';
import { demand, memory, MILLION, recordsOfADay } from '../../bench/scaling/large.ts';
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
  const { issue, write, tell, store } = MEASURED;
  assert.deepEqual(done, [issue + (write + 3 * 2 * tell) + store]);
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

test('every feature costs a certificate something, and none makes a backlog faster', () => {
  const [plain, ...others] = [...WITH_FEATURES.values()];
  assert.ok(plain !== undefined && others.length > 0);
  const total = ({ issue, record, write, store }: typeof plain): number =>
    issue + record + write + store;
  for (const costs of others) {
    assert.ok(total(costs) > total(plain));
    assert.ok(drain(shape, costs).perSecond <= drain(shape, plain).perSecond);
  }
});

test('a ledger ends a drain where it is slower than the replicas', () => {
  const slow = { ...MEASURED, record: 20 * MEASURED.issue };
  const { perSecond, busiest } = drain({ ...shape, apiCores: 16 }, slow);
  assert.equal(busiest.name, 'ledger');
  assert.ok(perSecond <= 2e6 / slow.record);
});

test('a million pods renew daily leaves 23 times a second, with three writes each', () => {
  const { certificates, etcdWrites, ourCalls } = demand(MILLION, MEASURED);
  assert.equal(Math.round(certificates), Math.round(1_000_000 / 43_200));
  assert.ok(etcdWrites > 3 * certificates && ourCalls > certificates);
});

test('a feature costs its certificates once, and not what others write', () => {
  const [plain, ...others] = [...WITH_FEATURES.values()];
  assert.ok(plain !== undefined);
  const { certificates, apiServer } = demand(MILLION, plain);
  for (const costs of others) {
    const more = demand(MILLION, costs).apiServer - apiServer;
    assert.ok(Math.abs(more - (certificates * (costs.write - plain.write)) / 1e6) < 1e-9);
  }
});

test('pcr-issuer remembers 50,000 certificates at most, however many pods there are', () => {
  const remembered = (podsEach: number): number => memory({ ...MILLION, podsEach }).remembered;
  assert.equal(remembered(50_000), 2 * remembered(25_000));
  assert.equal(remembered(1_000_000), remembered(50_000));
});

test('a day of daily leaves is two records of each of two certificates a pod', () => {
  assert.equal(Math.round(recordsOfADay(MILLION).records), 4_000_000);
});

test('a figure that no bench measured is no figure of the model', () => {
  assert.throws(() => figure('drain', 'countersign', 'unmeasured'), /drain\.json has no figure/);
});
