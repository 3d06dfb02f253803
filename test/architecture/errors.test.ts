// SPDX-License-Identifier: Apache-2.0
/** Every error code is explained, and every explanation has its code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSources } from './sources.ts';

const DISPOSITIONS = ['fail', 'retry', 'wait', 'authority'];

const sources = readSources();
const rows = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, code = '', disposition = '', meaning = '', advice = '']) => ({
    code: code.replaceAll('`', ''),
    dispositions: disposition.split(', '),
    meaning,
    advice,
  }));

test('every code has one row, and every row has its code', () => {
  const union = /type ErrorCode =([^;]*);/.exec(textOf('base/errors.ts'))?.[1] ?? '';
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code);
  assert.ok(codes.length > 0);
  assert.deepEqual(rows.map(({ code }) => code).sort(), codes.sort());
});

for (const { code, dispositions, meaning, advice } of rows) {
  test(`${code}: what the loop does, what it means, what to do`, () => {
    assert.deepEqual(
      dispositions.filter((each) => !DISPOSITIONS.includes(each)),
      [],
    );
    assert.match(meaning, /\w.*\.$/);
    assert.match(advice, /\w.*\.$/);
  });
}

test('a disposition that stands beside its code in the source is in its row', () => {
  const pairs = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/code: '(\w+)',\s*disposition: '(\w+)'/g)].map(([, code, disposition]) => ({
      path,
      code,
      disposition,
    })),
  );
  assert.ok(pairs.length > 0);
  const missing = pairs.filter(
    ({ code, disposition = '' }) =>
      rows.find((row) => row.code === code)?.dispositions.includes(disposition) !== true,
  );
  assert.deepEqual(missing, []);
});

test('every code is raised somewhere', () => {
  const others = sources.filter(({ path }) => path !== 'base/errors.ts');
  const unused = rows.filter(({ code }) => !others.some(({ text }) => text.includes(`'${code}'`)));
  assert.deepEqual(
    unused.map(({ code }) => code),
    [],
  );
});

function textOf(path: string): string {
  return sources.find((source) => source.path === path)?.text ?? '';
}
