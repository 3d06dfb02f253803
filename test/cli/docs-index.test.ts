// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const DOCS = join(import.meta.dirname, '../../docs');

test('docs/README.md links every page of how-to, explanation and reference', () => {
  const index = readFileSync(join(DOCS, 'README.md'), 'utf8');
  const pages = globSync('{how-to,explanation,reference}/**/*.md', { cwd: DOCS });
  assert.ok(pages.length > 0);
  assert.deepEqual(
    pages.filter((page) => !index.includes(`](${page})`)),
    [],
  );
});

test('docs/README.md lists every decision by its title', () => {
  const index = readFileSync(join(DOCS, 'README.md'), 'utf8');
  const records = globSync('adr/*.md', { cwd: DOCS });
  const entries = records.map((record) => {
    const title = readFileSync(join(DOCS, record), 'utf8').split('\n', 1)[0] ?? '';
    return `- [${title.replace(/^# /, '')}](${record})\n`;
  });
  assert.deepEqual(
    entries.filter((entry) => !index.includes(entry)),
    [],
  );
});

test('docs/README.md links each page once', () => {
  const index = readFileSync(join(DOCS, 'README.md'), 'utf8');
  const targets = [...index.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target = '']) => target);
  assert.ok(targets.length > 100);
  assert.deepEqual(
    targets.filter((target, at) => targets.indexOf(target) !== at),
    [],
  );
});

test('the first lines of docs/README.md link each role and the decisions', () => {
  const index = readFileSync(join(DOCS, 'README.md'), 'utf8');
  const [head = '', ...sections] = index.split(/^## /m);
  const titles = sections.map((section) => section.split('\n', 1)[0] ?? '');
  assert.deepEqual(
    titles.filter((title) => {
      const anchor = title.toLowerCase().replaceAll(' ', '-');
      return title !== 'Start' && !head.includes(`[${title}](#${anchor})`);
    }),
    [],
  );
});
