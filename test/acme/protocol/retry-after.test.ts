// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfter } from '#base/egress/retry-after.ts';

/** RFC 9110 §5.6.7's own example. */
const NOW = Date.parse('1994-11-06T08:49:37Z');
const WEEK_MS = 7 * 24 * 3600_000;

test('seconds and each form of a date of RFC 9110 are obeyed to the second', () => {
  for (const [text, seconds] of [
    ['120', 120],
    [' 120 ', 120],
    ['Sun, 06 Nov 1994 08:51:37 GMT', 120],
    ['Sunday, 06-Nov-94 08:51:37 GMT', 120],
    ['Sun Nov  6 08:51:37 1994', 120],
  ] as const)
    assert.equal(parseRetryAfter(text, undefined, NOW), seconds * 1000, text);
});

test('a Retry-After date is measured by the response’s clock, so skew is harmless', () => {
  const hourAhead = NOW + 3600_000;
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  assert.equal(parseRetryAfter('Sun, 06 Nov 1994 08:50:07 GMT', date, hourAhead), 30_000);
});

test('nobody waits longer than a week, nor less than a second', () => {
  assert.equal(parseRetryAfter('9999999999', undefined, NOW), WEEK_MS);
  assert.equal(parseRetryAfter('Sun, 06 Nov 2094 08:50:07 GMT', undefined, NOW), WEEK_MS);
  assert.equal(parseRetryAfter('0', undefined, NOW), 1000);
  assert.equal(parseRetryAfter('Sun, 06 Nov 1993 08:50:07 GMT', undefined, NOW), 1000);
});

test('what nobody can read is no wait', () => {
  for (const text of [
    '',
    'soon',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '99999999999',
    '1994-11-06T08:51:37Z',
  ])
    assert.equal(parseRetryAfter(text, undefined, NOW), undefined, text);
  assert.equal(parseRetryAfter(undefined, undefined, NOW), undefined);
});
