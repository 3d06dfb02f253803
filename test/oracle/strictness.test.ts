// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { strictnessTable } from './strictness.ts';

const page = join(import.meta.dirname, '../../docs/reference/strictness.md');

test('docs/reference/strictness.md lists everything that we refuse and Go accepts', () => {
  const unaligned = readFileSync(page, 'utf8')
    .replaceAll(/ *\| */g, ' | ')
    .replaceAll(/^ \| | \| $/gm, (edge) => edge.trim())
    .replaceAll(/-{3,}/g, '---');
  const wanted = strictnessTable()
    .replaceAll(/ *\| */g, ' | ')
    .replaceAll(/^ \| | \| $/gm, (edge) => edge.trim())
    .replaceAll(/-{3,}/g, '---');
  assert.ok(
    unaligned.includes(wanted.trimEnd()),
    'the table is not that of test/oracle/strictness.ts',
  );
});
