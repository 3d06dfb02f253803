// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime, parseTime } from '#api/object/time.ts';

test('metav1.Time has whole seconds; milliseconds are cut, never rounded up', () => {
  assert.equal(formatTime(Date.UTC(2026, 10, 21, 6, 7, 8, 999)), '2026-11-21T06:07:08Z');
  assert.equal(formatTime(Date.UTC(2026, 10, 21, 6, 7, 8, 0)), '2026-11-21T06:07:08Z');
});

test('a written time is read back, and an invalid one is NaN', () => {
  const second = Date.UTC(2030, 1, 2, 3, 4, 5);
  assert.equal(parseTime(formatTime(second)), second);
  assert.ok(Number.isNaN(parseTime('soon')));
  assert.ok(Number.isNaN(parseTime('')));
});
