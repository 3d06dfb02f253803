// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { missingRatios } from '../../bench/all/missing-ratios.ts';
import { PLANS } from '../../bench/all/plans.ts';

const BENCH = join(import.meta.dirname, '../../bench');

test('make bench-all runs every bench that there is', () => {
  for (const { bench } of PLANS) assert.ok(existsSync(join(BENCH, bench, 'main.ts')), bench);
  assert.equal(new Set(PLANS.map(({ bench }) => bench)).size, PLANS.length);
});

test('a ratio that a mark is set on is asked of its bench, and may be null', () => {
  assert.deepEqual(missingRatios('replicas', { ratios: { two_vs_one: null } }), ['takeover_s']);
  assert.deepEqual(missingRatios('start', { ratios: { first_signature_vs_list: 1 } }), []);
});
