// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePage, renderPage, type Row } from './page.ts';

const SUITES = [{ target: 'test-one' }, { target: 'test-two' }, { target: 'demo' }];
const ONE: Row = {
  target: 'test-one',
  result: 'green, 1 repeated',
  tests: 31,
  skipped: 2,
  red: 0,
  seconds: 734,
  commit: '0123456789ab',
  cores: 2,
};
const DEMO: Row = {
  ...ONE,
  target: 'demo',
  result: 'red',
  tests: undefined,
  skipped: undefined,
  red: 1,
};
const rows = new Map([ONE, DEMO].map((row) => [row.target, row]));

test('the page that verify writes is read back as it was', async () => {
  assert.deepEqual(parsePage(await renderPage(SUITES, rows)), rows);
});

test('the page has a row for a suite that has not run, which counts as none', async () => {
  const page = await renderPage(SUITES, rows);
  assert.match(page, /^\| `test-two` +\| not run /m);
  assert.equal(parsePage(page).has('test-two'), false);
});

test('a suite that is no more has no row', async () => {
  const page = await renderPage([{ target: 'demo' }], rows);
  assert.deepEqual([...parsePage(page).keys()], ['demo']);
});

test('a page that is not there yet has no rows', () => {
  assert.equal(parsePage('').size, 0);
});
