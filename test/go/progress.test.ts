// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressLine } from './progress.ts';

test('percent and minutes left follow from the packages that are begun', () => {
  // 90 s for a quarter: 270 s for the rest.
  assert.equal(
    progressLine({ seconds: 90, begun: 700, total: 2800 }),
    'building: 90 s, 25 % of 2800 packages, about 5 min left',
  );
  assert.equal(
    progressLine({ seconds: 500, begun: 2799, total: 2800 }),
    'building: 500 s, 99 % of 2800 packages, about 1 min left',
  );
});

test('the first packages give no estimate', () => {
  assert.equal(
    progressLine({ seconds: 10, begun: 0, total: 2800 }),
    'building: 10 s, 0 % of 2800 packages',
  );
  assert.equal(
    progressLine({ seconds: 20, begun: 139, total: 2800 }),
    'building: 20 s, 4 % of 2800 packages',
  );
});

test('once the last package is begun, the program is linked', () => {
  for (const begun of [44, 45])
    assert.equal(
      progressLine({ seconds: 30, begun, total: 44 }),
      'building: 30 s, 100 % of 44 packages, linking',
    );
  assert.equal(
    progressLine({ seconds: 10, begun: 0, total: 0 }),
    'building: 10 s, 100 % of 0 packages, linking',
  );
});

test('without a total, the packages are counted', () => {
  assert.equal(progressLine({ seconds: 10, begun: 13 }), 'building: 10 s, 13 packages');
});
