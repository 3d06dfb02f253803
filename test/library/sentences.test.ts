// SPDX-License-Identifier: Apache-2.0
/** The table of the library's requirements and the names of the tests agree. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = 'docs/reference/requirements/issuer-lib.md';

/** `number file`, of each row and each file that it names. */
function promised(): readonly string[] {
  const rows = readFileSync(join(ROOT, PAGE), 'utf8').matchAll(/^\|\s*(\d+)\s*\|.*$/gm);
  return [...rows].flatMap(([row, number = '']) =>
    [...row.matchAll(/\]\(([^)]+\.test\.ts)\)/g)].map(
      ([, path = '']) => `${number} ${normalize(join('docs/reference/requirements', path))}`,
    ),
  );
}

/** The same, of the names of tests. */
function held(): readonly string[] {
  const files = globSync(
    ['library', 'requests', 'component', 'integration'].map((each) => `test/${each}/**/*.test.ts`),
    {
      cwd: ROOT,
    },
  );
  return files.flatMap((file) => {
    const names = readFileSync(join(ROOT, file), 'utf8').matchAll(/^\s*test\(\s*['`](\d+)\. /gm);
    return [...new Set([...names].map(([, number = '']) => `${number} ${file}`))];
  });
}

test('issuer-lib.md has a row per behaviour, and names exactly its test files', () => {
  assert.deepEqual([...promised()].sort(), [...held()].sort());
  const numbers = new Set(promised().map((each) => Number(each.split(' ')[0])));
  const all = Array.from({ length: numbers.size }, (_, index) => index + 1);
  assert.deepEqual(
    [...numbers].sort((a, b) => a - b),
    all,
  );
  assert.ok(numbers.size === 22);
});
