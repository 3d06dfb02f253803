// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { PACKAGES } from './packages.ts';

const ROOT = join(import.meta.dirname, '../..');
const RECORDS = join(ROOT, 'docs/adr');

test('each decision has its own number, as in its title, and none is missing', () => {
  const names = globSync('*.md', { cwd: RECORDS }).sort();
  const numbers = names.map((name) => name.slice(0, 4));
  assert.deepEqual(
    numbers,
    names.map((_, index) => String(index + 1).padStart(4, '0')),
  );
  for (const name of names) {
    const title = readFileSync(join(RECORDS, name), 'utf8').split('\n', 1)[0] ?? '';
    assert.ok(title.startsWith(`# ${name.slice(0, 4)}: `), `${name} is titled ${title}`);
  }
});

/** Targets of links in a text that name a file; `#anchors` are not looked at. */
function linked(text: string): readonly string[] {
  return [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)/g)].map(([, path = '']) => path);
}

test('a page links only to files that are there', () => {
  const pages = ['*.md', 'docs/**/*.md', 'examples/**/*.md', 'test/**/README.md'].flatMap(
    (pattern) => globSync(pattern, { cwd: ROOT, exclude: (path) => path.includes('node_modules') }),
  );
  const broken = pages.flatMap((page) =>
    linked(readFileSync(join(ROOT, page), 'utf8'))
      .filter((path) => globSync(join(ROOT, dirname(page), path)).length === 0)
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(broken, []);
});

test('ADR 0003 names the folders that may import pkijs', () => {
  const record = readFileSync(join(RECORDS, '0003-own-der.md'), 'utf8');
  const rows = [...record.matchAll(/^\| `src\/(?<folder>[a-z/-]+)`/gm)];
  assert.deepEqual(
    rows.map(({ groups }) => groups?.['folder']).sort(),
    [...(PACKAGES['pkijs'] ?? [])].sort(),
  );
});
