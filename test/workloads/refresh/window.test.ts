// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { nextOpening, parseWindow } from '#workloads/refresh/window.ts';

const at = (text: string): number => Date.parse(`${text}Z`);

// 2026-01-05 is a Monday.
const cases: readonly (readonly [window: string, now: string, opens: string])[] = [
  ['22:00-06:00', '2026-01-05T12:00', '2026-01-05T22:00'],
  ['22:00-06:00', '2026-01-05T23:00', '2026-01-05T23:00'],
  ['22:00-06:00', '2026-01-05T05:59', '2026-01-05T05:59'],
  ['22:00-06:00', '2026-01-05T06:00', '2026-01-05T22:00'],
  ['Sat,Sun 00:00-24:00', '2026-01-05T12:00', '2026-01-10T00:00'],
  ['Sat,Sun 00:00-24:00', '2026-01-11T23:59', '2026-01-11T23:59'],
  ['Sun 22:00-06:00', '2026-01-05T05:00', '2026-01-05T05:00'],
  ['Fri-Mon 01:00-02:00', '2026-01-06T00:00', '2026-01-09T01:00'],
  ['Mon-Fri 22:00-23:00; Sat 08:00-09:00', '2026-01-10T00:00', '2026-01-10T08:00'],
];

for (const [window, now, opens] of cases) {
  test(`window ${window} at ${now} opens at ${opens}`, () => {
    assert.equal(
      new Date(nextOpening(parseWindow(window), at(now))).toISOString(),
      new Date(at(opens)).toISOString(),
    );
  });
}

for (const text of [
  '',
  'at night',
  '25:00-26:00',
  '22:00-23:60',
  'Foo 22:00-23:00',
  'Mon-Tue-Wed 22:00-23:00',
  '22:00',
  `22:00-23:00;${' '.repeat(600)}`,
]) {
  test(`a window that nobody can read is refused: ${text.slice(0, 30)}`, () => {
    assert.throws(
      () => parseWindow(text),
      (error) =>
        error instanceof SignerError &&
        error.code === 'USAGE' &&
        /Mon-Fri 22:00/.test(error.message),
    );
  });
}
