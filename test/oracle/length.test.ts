// SPDX-License-Identifier: Apache-2.0
/** How many mutations each form of the oracle compares, and the pages that state it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MUTATIONS, SHARES, mutationsOf } from './length.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('make test compares 10,000 mutations, verify 100,000, the long form 2,000,000', () => {
  const kinds = Object.keys(SHARES) as (keyof typeof SHARES)[];
  const totals = Object.keys(MUTATIONS).map((form) =>
    kinds.reduce((sum, kind) => sum + mutationsOf(kind, form), 0),
  );
  assert.deepEqual(totals, [10_000, 100_000, 2_000_000]);
});

test('a form of the oracle that does not exist is refused', () => {
  assert.throws(
    () => mutationsOf('pem', 'lang'),
    /ORACLE=lang: want one of short, mutations, long/,
  );
});

test('the Makefile and the pages state the mutations of each form', () => {
  const stated = (text: string): readonly string[] =>
    [...text.matchAll(/([\d,]+)\s+mutations/g)].map(([, count = '']) => count);
  const all = Object.values(MUTATIONS).map((count) => count.toLocaleString('en-US'));
  assert.deepEqual(stated(read('docs/reference/strictness.md')), all);
  const help = read('Makefile')
    .split('\n')
    .filter((line) => /^(?:oracle|test-oracle[a-z-]*):/.test(line));
  assert.deepEqual(stated(help.join('\n')), all);
});
