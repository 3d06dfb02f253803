// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BoundedMap } from '#base/bounded-map.ts';

test('beyond its limit, the entry that was set first is evicted', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  assert.equal(map.set('b', 2), undefined);
  assert.equal(map.set('c', 3), 1, 'it says what had to go');
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [undefined, 2, 3]);
  assert.equal(map.size, 2);
});

test('a key that is set again is the newest, and evicts nothing', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  assert.deepEqual([map.get('a'), map.get('b')], [3, 2]);
  map.set('c', 4);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [3, undefined, 4]);
});

test('a deleted entry makes room', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  assert.equal(map.delete('a'), true);
  assert.equal(map.delete('a'), false);
  map.set('c', 3);
  assert.deepEqual([map.get('b'), map.get('c')], [2, 3]);
});

test('whatever the order of calls, it holds the newest entries that were not deleted', () => {
  const call = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(call, { maxLength: 200 }),
      (limit, all) => {
        const map = new BoundedMap<number, number>(limit);
        let expected: number[] = [];
        for (const [sets, key] of all) {
          expected = expected.filter((each) => each !== key);
          if (sets) expected = [...expected, key].slice(-limit);
          if (sets) map.set(key, key);
          else map.delete(key);
          const held = Array.from({ length: 10 }, (_each, at) => at).filter(
            (at) => map.get(at) !== undefined,
          );
          assert.deepEqual(held, expected.toSorted());
          assert.deepEqual(
            [...map.entries()].map(([key]) => key),
            expected,
          );
          assert.equal(map.size, expected.length);
        }
      },
    ),
  );
});
