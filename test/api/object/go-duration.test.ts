// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoDuration } from '#api/object/duration.ts';

/** Expectations are Go's time.ParseDuration (go1.26), in whole seconds. */
const read: [text: string, seconds: number][] = [
  ['0', 0],
  ['2160h0m0s', 7_776_000],
  ['1h30m', 5_400],
  ['1.5h', 5_400],
  ['.5m', 30],
  ['90s', 90],
  ['1500ms', 1],
  ['3600000000us', 3_600],
  ['3600000000µs', 3_600],
  ['600000000000ns', 600],
  ['+10m', 600],
  ['-1h', -3_600],
  ['1m1h', 3_660],
];

for (const [text, seconds] of read) {
  test(`${text} is ${seconds} seconds`, () => {
    assert.equal(parseGoDuration(text), seconds);
  });
}

const refused = [
  '',
  '1',
  'h',
  '1d',
  '1 h',
  '1h ',
  '--1h',
  '1e3s',
  '0x1s',
  '١h',
  `${'9'.repeat(70)}h`,
];

for (const text of refused) {
  test(`${JSON.stringify(text.slice(0, 12))} is not a Go duration`, () => {
    assert.equal(parseGoDuration(text), undefined);
  });
}
