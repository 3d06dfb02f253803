// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { columns } from '#operations/show/columns.ts';

const tables = fc.array(
  fc.tuple(
    ...Array.from({ length: 4 }, () => fc.string({ maxLength: 60, unit: 'grapheme-ascii' })),
  ),
  { minLength: 1, maxLength: 6 },
);

test('no line is wider than the terminal, where every column may have eight', () => {
  fc.assert(
    fc.property(tables, fc.integer({ min: 41, max: 200 }), (table, width) => {
      for (const line of columns(table, width)) assert.ok(line.length <= width, line);
    }),
  );
});

test('nothing is left out of a cell', () => {
  fc.assert(
    fc.property(tables, fc.integer({ min: 41, max: 200 }), (table, width) => {
      const characters = (text: string): string =>
        Array.from(text.replaceAll(' ', '')).sort().join('');
      const printed = columns(table, width).join('');
      assert.equal(characters(printed), characters(table.flat().join('')));
    }),
  );
});

test('where no terminal reads it, each row is one line', () => {
  const table = [
    ['A', 'B'],
    ['x'.repeat(500), 'y'],
  ];
  assert.equal(columns(table).length, 2);
});

test('a long cell goes on below, behind a blank where there is one', () => {
  const cell = 'no rule of example.com/people approves it';
  assert.deepEqual(
    columns(
      [
        ['NAME', 'WHY'],
        ['csr/alice', cell],
      ],
      36,
    ),
    ['NAME        WHY', 'csr/alice   no rule of example.com/', '            people approves it'],
  );
});

test('what stands for a control character is never broken', () => {
  for (let width = 20; width < 60; width += 1) {
    const printed = columns(
      [
        ['A', 'B'],
        ['\u001B'.repeat(9), '\u0000x'.repeat(9)],
      ],
      width,
    );
    const whole = printed.join('\n').replaceAll(/\\u\{(?:1b|0)\}/g, '');
    assert.doesNotMatch(whole, /[\\{}]/);
  }
});

/** Unicode Standard Annex #11, Wide and Fullwidth take two columns; Halfwidth and Ambiguous one. */
const WIDTHS: readonly (readonly [text: string, width: number])[] = [
  ['東京', 4],
  ['ひらがな', 8],
  ['カタカナ', 8],
  ['ｶﾀｶﾅ', 4],
  ['서울', 4],
  ['ＡＢ', 4],
  ['é', 1],
  ['e\u0301', 1],
  ['😀', 2],
  ['×√', 2],
  ['ж', 1],
];

for (const [text, width] of WIDTHS) {
  test(`${text} takes ${width} columns`, () => {
    const [, row = ''] = columns([
      ['AAAAAAAAAA', 'B'],
      [text, 'b'],
    ]);
    assert.equal(row, `${text}${' '.repeat(10 - width + 3)}b`);
  });
}
