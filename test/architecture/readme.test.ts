// SPDX-License-Identifier: Apache-2.0
/** README.md fits a minute: its length, its picture, and the sources of its comparison. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const MAX_LINES = 120;

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((each) => each.trim());
}

/** Rows below a heading, the header first, without the line of dashes. */
function tableBelow(text: string, heading: string): readonly (readonly string[])[] {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.filter((line) => !/^\|[\s|-]+$/.test(line)).map(cellsOf);
}

test(`README.md has at most ${MAX_LINES} lines`, () => {
  assert.ok(read('README.md').split('\n').length - 1 <= MAX_LINES);
});

test('each cell of the comparison in README.md has its source', () => {
  const [[, ...tools] = [], ...rows] = tableBelow(read('README.md'), 'How it compares');
  assert.ok(rows.length >= 6 && tools.length === 6);
  const page = read('docs/reference/comparison.md');
  for (const [feature = '', ...cells] of rows) {
    const [, ...sourced] = tableBelow(page, feature);
    assert.deepEqual(
      sourced.map(([tool, cell]) => `${tool}: ${cell}`),
      tools.flatMap((tool, index) => (cells[index] === '' ? [] : [`${tool}: ${cells[index]}`])),
      feature,
    );
    for (const [tool = '', , source = ''] of sourced) assert.ok(source.length > 5, tool);
  }
});

test('the light and the dark picture differ in colours only, and load nothing', () => {
  const pictures = ['light', 'dark'].map((each) => read(`docs/how-it-works-${each}.svg`));
  const [light = '', dark = ''] = pictures.map((each) => each.replaceAll(/#[0-9a-f]{6}/g, '#'));
  assert.equal(light, dark);
  assert.notEqual(pictures[0], pictures[1]);
  assert.doesNotMatch(light, /href|@import|@font-face|url\((?!#)|<script|<image/);
});
