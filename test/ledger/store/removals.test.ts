// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { placeOf } from '#ledger/records/ids.ts';
import { Removals } from '#ledger/store/removals.ts';

const LENGTH = 40;

test('unexplained means missing and in no range, in any order or overlap of ranges', () => {
  const range = fc
    .tuple(fc.nat(LENGTH - 1), fc.nat(8))
    .map(([from, more]) => ({ log: 1, from, to: Math.min(from + more, LENGTH - 1) }));
  const missing = fc.array(fc.boolean(), { minLength: LENGTH, maxLength: LENGTH });
  fc.assert(
    fc.property(fc.array(range, { maxLength: 8 }), missing, (ranges, isMissing) => {
      const removals = new Removals();
      for (const each of ranges) {
        const reason = each.from % 2 === 0 ? 'person' : 'retention';
        removals.add({ key: 'x', kind: 'erased', reason, removed: [each] });
      }
      const base = 2 ** 40;
      for (const [index, gone] of isMissing.entries()) if (gone) removals.missing(base + index);
      const { left, counts } = removals.explained();
      const found = left.flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, at) => placeOf(first + at).index),
      );
      const expected = isMissing.flatMap((gone, index) =>
        gone && !ranges.some(({ from, to }) => from <= index && index <= to) ? [index] : [],
      );
      assert.deepEqual(found, expected);
      assert.equal(
        counts.person + counts.retention,
        isMissing.filter(Boolean).length - expected.length,
      );
    }),
    { numRuns: 500 },
  );
});
