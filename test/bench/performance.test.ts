// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { MARKS } from '../../bench/report/marks.ts';
import { verdictsOf } from '../../bench/report/page.ts';
import { readChapters } from '../../bench/report/read-results.ts';
import { verdictOf } from '../../bench/report/verdict.ts';
import { performanceFiles } from '../../bench/report/write.ts';

const BENCH = join(import.meta.dirname, '../../bench');

test('the page of performance says what was measured: `make performance` writes it', async () => {
  for (const [file, text] of await performanceFiles()) {
    assert.equal(readFileSync(file, 'utf8'), text, `${basename(file)} is stale`);
  }
});

test('a missed mark is explained in the notes of its bench', () => {
  for (const chapter of readChapters(join(BENCH, 'results'), join(BENCH, 'notes'))) {
    for (const { mark, met } of verdictsOf(chapter)) {
      if (met !== false) continue;
      assert.ok(
        chapter.notes.includes(`\`${mark.ratio}\``),
        `bench/notes: ${mark.ratio} is missed`,
      );
    }
  }
});

test('a mark is met at its bound and missed beyond it', () => {
  const machine = { cores: 2, cpu: '', memoryGiB: 1, node: '' };
  const met = (bound: 'at least' | 'at most' | 'within', value: number): boolean | undefined => {
    const [first] = MARKS;
    assert.ok(first);
    const mark = { ...first, ratio: 'some', bound, value: 2, tolerance: 0.5 };
    return verdictOf(mark, { ratios: { some: value }, figures: {}, machine }).met;
  };
  assert.deepEqual([met('at least', 2), met('at least', 1.9)], [true, false]);
  assert.deepEqual([met('at most', 2), met('at most', 2.1)], [true, false]);
  assert.deepEqual([met('within', 2.5), met('within', 1.4)], [true, false]);
});

test('the words of a mark have the sizes that were run, not those that it is set on', () => {
  const [mark] = MARKS.filter(({ ratio }) => ratio === 'rss_drift');
  assert.ok(mark);
  const machine = { cores: 2, cpu: '', memoryGiB: 1, node: '' };
  const { means } = verdictOf(mark, { ratios: {}, figures: { issuances: 12_000 }, machine });
  assert.equal(means, 'growth over 12,000 certificates');
});

test('a mark beyond a figure moves with it; an unmeasured one has no verdict', () => {
  const [mark] = MARKS.filter(({ beyond }) => beyond !== undefined);
  assert.ok(mark?.beyond !== undefined);
  const machine = { cores: 2, cpu: '', memoryGiB: 1, node: '' };
  const measured = { ratios: { [mark.ratio]: 15.5 }, figures: { [mark.beyond]: 15 }, machine };
  assert.deepEqual(verdictOf(mark, measured).wanted, 16);
  assert.equal(verdictOf(mark, measured).met, true);
  assert.equal(verdictOf(mark, undefined).met, undefined);
});
