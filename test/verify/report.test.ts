// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsIn, isGreen, verdictOf } from './report.ts';

/** The end of a report of node:test, as Node 24 writes it. */
function summary(
  counts: Readonly<Record<'tests' | 'fail' | 'cancelled' | 'skipped', number>>,
  mark = 'ℹ',
): string {
  const { tests, fail, cancelled, skipped } = counts;
  const lines = { tests, suites: 0, pass: 1, fail, cancelled, skipped, todo: 0, duration_ms: 8.5 };
  return `${Object.entries(lines)
    .map(([name, count]) => `${mark} ${name} ${count}`)
    .join('\n')}\n`;
}

const NONE = { tests: 0, fail: 0, cancelled: 0, skipped: 0 };

test('a suite of several runs has the sum of their tests', () => {
  const output =
    summary({ ...NONE, tests: 3, skipped: 1 }) + summary({ ...NONE, tests: 40, skipped: 2 });
  assert.deepEqual(countsIn(output), { tests: 43, skipped: 3, red: 0, flaky: 0 });
});

test('a test that failed and one that was cancelled are red', () => {
  const output = summary({ tests: 9, fail: 2, cancelled: 1, skipped: 0 }, '#');
  assert.deepEqual(countsIn(output), { tests: 9, skipped: 0, red: 3, flaky: 0 });
});

test('a line that only looks like a summary is not counted', () => {
  assert.equal(countsIn('ℹ tests 3 files\n  ℹ tests 4\n').tests, 0);
});

test('a suite is red by its exit code, however many tests passed', () => {
  const output = summary({ ...NONE, tests: 3 });
  const verdict = verdictOf({ exitCode: 2, output, hasTests: true });
  assert.deepEqual(verdict, { result: 'red', tests: 3, skipped: 0, red: 1 });
  assert.equal(verdictOf({ exitCode: null, output, hasTests: true }).result, 'red');
});

test('a suite that skipped every test is not green', () => {
  const output = summary({ ...NONE, tests: 3, skipped: 3 });
  const { result } = verdictOf({ exitCode: 0, output, hasTests: true });
  assert.equal(result, 'nothing ran');
  assert.equal(isGreen(result), false);
});

test('a suite of tests that reports no test is not green', () => {
  assert.equal(verdictOf({ exitCode: 0, output: '', hasTests: true }).result, 'nothing ran');
});

test('a suite that counts no tests is green by its exit code, without a number', () => {
  assert.deepEqual(verdictOf({ exitCode: 0, output: 'held', hasTests: false }), {
    result: 'green',
    tests: undefined,
    skipped: undefined,
    red: 0,
  });
});

test('a test that passed when it ran again is named beside green', () => {
  const output = `${summary({ ...NONE, tests: 3, fail: 1 })}FLAKY a.test.ts: holds\n`;
  const { result, red } = verdictOf({ exitCode: 0, output, hasTests: true });
  assert.deepEqual([result, red, isGreen(result)], ['green, 1 repeated', 0, true]);
});
