// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { strictnessLists } from './strictness.ts';

const page = join(import.meta.dirname, '../../docs/reference/strictness.md');

test('docs/reference/strictness.md lists everything that we refuse and Go accepts', () => {
  assert.ok(
    readFileSync(page, 'utf8').includes(strictnessLists()),
    'the lists are not those of test/oracle/strictness.ts',
  );
});
