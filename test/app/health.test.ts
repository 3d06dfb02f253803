// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockWarnings } from '../../src/app/health.ts';

test('a clock that is off is told by how much and which way', () => {
  assert.deepEqual(clockWarnings(29_999), []);
  assert.deepEqual(clockWarnings(-29_999), []);
  assert.match(clockWarnings(75_000).join(), /our clock is 75 s ahead of that of the API server/);
  assert.match(clockWarnings(-75_000).join(), /our clock is 75 s behind that of the API server/);
  assert.match(clockWarnings(600_000).join(), /leaves carry the time of the API server/);
  assert.match(clockWarnings(-600_001).join(), /nothing is signed until it is set right/);
});
