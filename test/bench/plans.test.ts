// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PLANS } from '../../bench/all/plans.ts';

const BENCH = join(import.meta.dirname, '../../bench');

test('make bench-all runs every bench that there is', () => {
  for (const { bench } of PLANS) assert.ok(existsSync(join(BENCH, bench, 'main.ts')), bench);
  assert.equal(new Set(PLANS.map(({ bench }) => bench)).size, PLANS.length);
});
