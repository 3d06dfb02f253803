// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, parseDuration } from '#api/object/duration.ts';

const rows: [text: string, seconds: number, shortest?: string][] = [
  ['24h', 86_400],
  ['1h30m', 5_400],
  ['90s', 90, '1m30s'],
  ['1m', 60],
  ['60m', 3_600, '1h'],
  ['8760h', 31_536_000],
  ['0s', 0],
  ['0h', 0, '0s'],
  ['2184h', 7_862_400],
];

for (const [text, seconds, shortest = text] of rows) {
  test(`${text} is ${seconds} s and is written ${shortest}`, () => {
    assert.equal(parseDuration(text), seconds);
    assert.equal(formatDuration(seconds), shortest);
  });
}

for (const text of ['', '1', 'h', '1d', '1.5h', '-1h', '1m1h', '1h 1m', '1ms', ' 1h', '1h\n']) {
  test(`${JSON.stringify(text)} is not a duration`, () => {
    assert.throws(() => parseDuration(text), {
      code: 'DURATION_INVALID',
      message: /is not in hours, minutes and seconds; write it like "24h"/,
    });
  });
}

test('a duration beyond a hundred years is refused, so that no date overflows', () => {
  assert.equal(parseDuration('876000h'), 3_153_600_000);
  assert.throws(() => parseDuration('876000h1s'), {
    code: 'DURATION_INVALID',
    message: /longer than the limit of a hundred years/,
  });
  assert.throws(() => parseDuration('9999999999h'), { code: 'DURATION_INVALID' });
});
