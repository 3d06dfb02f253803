// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFifo } from '#kube/workqueue/fifo.ts';

test('a FIFO behaves as an array with push and shift', () => {
  fc.assert(
    fc.property(
      // Long runs of one kind, so that places are given back in between.
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 3_000 })), { maxLength: 12 }),
      (runs) => {
        const fifo = createFifo<number>();
        const array: number[] = [];
        let next = 0;
        for (const [push, count] of runs) {
          for (let index = 0; index < count; index += 1) {
            if (push) {
              fifo.push(next);
              array.push(next);
              next += 1;
            } else assert.equal(fifo.shift(), array.shift());
          }
          assert.equal(fifo.length, array.length);
        }
      },
    ),
    { numRuns: 50 },
  );
});
