// SPDX-License-Identifier: Apache-2.0
/**
 * docs/reference/spiffe.md names a test for each MUST: the file is there, and has a test of that
 * name.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/reference/spiffe.md'), 'utf8');
const rows = page
  .split(/^## /m)
  .filter((section) => /^(?:Serving|Consuming) a bundle$/m.test(section))
  .flatMap((section) => section.split('\n').filter((line) => line.startsWith('| ')))
  .filter((line) => !/^\| (?:MUST|---)/.test(line));

/** The text of a test file that the page names without its ending. */
function textOf(path: string): string {
  const file = [`${path}.test.ts`, `${path}.ts`].map((each) => join(ROOT, each)).find(existsSync);
  assert.ok(file !== undefined, `no test file ${path}`);
  return readFileSync(file, 'utf8').replaceAll(/\$\{profile\}/g, 'https_web');
}

test('each MUST of serving and of consuming a bundle is held by a test that exists', () => {
  assert.ok(rows.length > 25, String(rows.length));
  for (const row of rows) {
    const held =
      row
        .split(' | ')
        .at(-1)
        ?.replace(/\s*\|$/, '') ?? '';
    if (held.includes('](rotation.md)')) continue;
    const named = [...held.matchAll(/`(test\/[^`]+)`: ((?:_.+?_(?:, )?)+)(?=;|$)/g)];
    assert.ok(named.length > 0, `no test: ${row}`);
    for (const [, path = '', names = ''] of named)
      for (const name of names.replace(/^_|_$/g, '').split('_, _'))
        assert.ok(textOf(path).includes(name), `${path} has no test "${name}"`);
  }
});
