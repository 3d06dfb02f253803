// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHealth } from '#app/health.ts';

function warningsAt(clockOffset: number): readonly string[] {
  const quiet = { notReady: () => [], warnings: () => [] };
  return createHealth({
    clockOffset: () => clockOffset,
    controller: () => undefined,
    permissions: quiet,
    admission: quiet,
    replica: quiet,
    recording: quiet,
  }).warnings();
}

test('a clock offset of 30 s or more is a warning with its size and direction', () => {
  assert.deepEqual(warningsAt(29_999), []);
  assert.deepEqual(warningsAt(-29_999), []);
  assert.match(warningsAt(75_000).join(), /the local clock is 75 s ahead of the API server's/);
  assert.match(warningsAt(-75_000).join(), /the local clock is 75 s behind the API server's/);
  assert.match(warningsAt(600_000).join(), /certificates carry the time of the API server/);
  assert.match(warningsAt(-600_001).join(), /signing is paused; correct the wrong clock/);
});
