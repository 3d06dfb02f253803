// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairMap } from '#base/fair-map.ts';

test('beyond the limit, the tenant with the most weight loses its oldest entry', () => {
  const map = new FairMap<number>(3);
  map.set('b-1', 1, { tenant: 'b' });
  map.set('a-1', 2, { tenant: 'a' });
  map.set('a-2', 3, { tenant: 'a' });
  assert.deepEqual(map.set('c-1', 4, { tenant: 'c' }), [2]);
  assert.deepEqual(
    [...map.entries()],
    [
      ['b-1', 1],
      ['a-2', 3],
      ['c-1', 4],
    ],
  );
});

test('among equals, the tenant of the newest entry loses its oldest', () => {
  const map = new FairMap<number>(2);
  map.set('a', 1, { tenant: 'a' });
  map.set('b', 2, { tenant: 'b' });
  assert.deepEqual(map.set('c', 3, { tenant: 'c' }), [3]);
  assert.equal(map.get('c'), undefined);
});

test('expired entries go before valid ones, at most once a minute', () => {
  const map = new FairMap<number>(2, (end) => end);
  map.set('large-1', 100, { tenant: 'large', now: 0 });
  map.set('small', 50, { tenant: 'small', now: 0 });
  assert.deepEqual(map.set('large-2', 100, { tenant: 'large', now: 60 }), [50]);
  assert.deepEqual(map.set('large-3', 200, { tenant: 'large', now: 160 }), [100]);
  assert.deepEqual(
    [...map.entries()].map(([key]) => key),
    ['large-2', 'large-3'],
  );
});

test('after the clock is set back, expired entries still go before valid ones', () => {
  const map = new FairMap<number>(2, (end) => end);
  const hour = 3_600_000;
  for (const key of ['a', 'b', 'c']) map.set(key, 2 * hour, { tenant: 'large', now: hour });
  map.delete('c');
  map.set('small', 50, { tenant: 'small', now: 0 });
  assert.deepEqual(map.set('d', 2 * hour, { tenant: 'large', now: 60 }), [50]);
});

test('a key that is set again counts once, also for another tenant', () => {
  const map = new FairMap<number>(10);
  map.set('a', 1, { tenant: 'a', weight: 6 });
  assert.deepEqual(map.set('a', 2, { tenant: 'b', weight: 4 }), []);
  assert.deepEqual(map.set('b', 3, { tenant: 'a', weight: 6 }), []);
  assert.equal(map.delete('a'), 2);
  assert.equal(map.delete('a'), undefined);
  assert.equal(map.size, 1);
});

test('the weight never exceeds the limit, and a tenant within its share loses nothing', () => {
  const entry = fc.record({
    key: fc.integer({ min: 0, max: 30 }),
    tenant: fc.constantFrom('a', 'b', 'c'),
    weight: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
      const limit = 20;
      const map = new FairMap<number>(limit);
      const quiet = { tenant: 'quiet', weight: 5 };
      map.set('quiet', 0, quiet);
      const weights = new Map([['quiet', quiet.weight]]);
      for (const { key, tenant, weight } of entries) {
        map.set(`${key}`, weight, { tenant, weight });
        weights.set(`${key}`, weight);
        const total = [...map.entries()].reduce((sum, [each]) => sum + (weights.get(each) ?? 0), 0);
        assert.ok(total <= limit);
        // A quarter of the limit: four tenants share it.
        assert.equal(map.get('quiet'), 0);
      }
    }),
  );
});
