// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHeap } from '#kube/workqueue/heap.ts';

test('the least item leaves first, after any pushes, shifts and retains', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 99 }) },
    { weight: 3, arbitrary: fc.constant('shift' as const) },
    { weight: 1, arbitrary: fc.constant('retain' as const) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = createHeap<number>((a, b) => a < b);
      let model: number[] = [];
      for (const each of steps) {
        if (typeof each === 'number') {
          heap.push(each);
          model.push(each);
        } else if (each === 'retain') {
          heap.retain((item) => item % 3 !== 0);
          model = model.filter((item) => item % 3 !== 0);
        } else {
          model.sort((a, b) => a - b);
          assert.equal(heap.peek(), model[0]);
          assert.equal(heap.shift(), model.shift());
        }
        assert.equal(heap.length, model.length);
      }
    }),
  );
});
