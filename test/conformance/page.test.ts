// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KIND_CASES } from '../support/conformance/page.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/conformance.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => /^\| (?:CSR|PCR|CTB|CR)-\d/.test(line))
  .map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test('the page has a row for every case of the run, in its words, and no other', () => {
  const wanted = Object.values(KIND_CASES)
    .flat()
    .map(({ id, asserts, level, source }) => [
      id,
      level === 'should' ? `${asserts} (should)` : asserts,
      source,
    ]);
  assert.deepEqual(
    rows.map((cells) => cells.slice(0, 3).map((cell) => cell.replaceAll('\\', ''))),
    wanted,
    'run `make conformance`',
  );
});

test('every cell says pass, fail, skip or that the kind is not served', () => {
  const cells = new Set(rows.flatMap((each) => each.slice(3)));
  for (const cell of cells) assert.match(cell, /^(?:pass|\*\*fail\*\*|skip|–)$/);
});
