// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

const REQUIREMENTS = join(ROOT, 'docs/reference/requirements');

/** Page of docs/reference/requirements → where the tests are that it names. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  operator: [
    'operator',
    'cert-manager-operator',
    'helm',
    'install',
    'kube/apply',
    'trust',
    'workloads',
  ],
  acme: ['acme', 'integration'],
  'custom-signer': ['install', 'integration', 'architecture'],
  'pod-refresher': ['workloads', 'integration', 'trust', 'install'],
};
/** How a page calls a file whose name says less. */
const CALLED: Readonly<Record<string, string>> = { _cluster_: 'pod-refresher' };

/** What a row names: a file, and the beginnings of names of its tests, up to a full stop. */
const NAMED = /(?:`([\w/-]+)`|(_cluster_)): ([^`_.|]+)/g;

for (const [page, places] of Object.entries(PAGES)) {
  test(`each test that ${page}.md names is there`, () => {
    const files = places.flatMap((place) => globSync(join(ROOT, 'test', place, '**/*.ts')));
    const text = readFileSync(join(REQUIREMENTS, `${page}.md`), 'utf8');
    const held = text.split('\n').map((line) => /^\| [^|]+\|([^|]+)\|$/.exec(line)?.[1] ?? '');
    const named = held.flatMap((cell) => [...cell.matchAll(NAMED)]);
    assert.ok(named.length > 10);
    for (const [, file, other = '', names = ''] of named) {
      const called = basename(file ?? CALLED[other] ?? other);
      const sources = files
        .filter((each) => [`${called}.test.ts`, `${called}.ts`].includes(basename(each)))
        .map((each) => readFileSync(each, 'utf8'))
        .join('\n');
      for (const name of names.split(/;|….*$/).map((each) => each.trim()))
        assert.ok(sources.includes(name), `${called}: ${name}`);
    }
  });
}

/**
 * Begins the cell of a row whose sentence no test holds: what stands instead, or that it is advice.
 */
const NO_TEST = /^(?:Not so|Nothing to hold|Advice|Stricter)/;
/** A file with the names of its tests, or a link to a record of a decision. */
const HOLDER = /(?:`[\w/.-]+`|_cluster_): \S|\]\([^)]+\)/;

for (const page of Object.keys(PAGES))
  test(`each row of ${page}.md names its test, or says why it has none`, () => {
    const text = readFileSync(join(REQUIREMENTS, `${page}.md`), 'utf8');
    const rows = text.split('\n').filter((line) => /^\| \d[\d, –]*\. /.test(line));
    const cells = rows.map((row) => row.split('|').at(-2)?.trim() ?? '');
    assert.ok(cells.length > 10);
    assert.deepEqual(
      cells.filter((cell) => !NO_TEST.test(cell) && !HOLDER.test(cell)),
      [],
    );
  });

test('the numbered rows of rotation.md are the numbers of its tests', () => {
  const numbers = (text: string, pattern: RegExp): readonly number[] =>
    [...text.matchAll(pattern)].map(([, digits]) => Number(digits)).sort((a, b) => a - b);
  const rows = readFileSync(join(REQUIREMENTS, 'rotation.md'), 'utf8');
  const tests = readFileSync(join(ROOT, 'test/ca/rotation/source.test.ts'), 'utf8');
  assert.deepEqual(
    numbers(tests, /^(?:test|describe)\(\s*'(\d+)\. /gm),
    numbers(rows, /^\| (\d+) +\|/gm),
  );
});

/** Section of sources.md, a document → the pages with its rows, and how many sentences it has. */
const DOCUMENTS: Readonly<Record<string, { pages: readonly string[]; sentences: number }>> = {
  'custom-signer': { pages: ['custom-signer'], sentences: 53 },
  'issuer-lib': { pages: ['issuer-lib'], sentences: 64 },
  acme: { pages: ['acme'], sentences: 35 },
  rotation: { pages: ['rotation'], sentences: 29 },
  operator: { pages: ['operator', 'pod-refresher'], sentences: 122 },
};

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Numbers of `4, 6–8`. */
function numbersOf(text: string): readonly number[] {
  return text.split(', ').flatMap((each) => {
    const [from = 0, to = from] = each.split('–').map(Number);
    return upTo(to).slice(from - 1);
  });
}

/** Numbers of sentences that the rows of a page name, in the first cell that begins with some. */
function namedBy(page: string): readonly number[] {
  const text = readFileSync(join(REQUIREMENTS, `${page}.md`), 'utf8');
  return [...text.matchAll(/^\| (?:[\d–]+ +\| )?(\d[\d, –]*)\. /gm)].flatMap(([, numbers = '']) =>
    numbersOf(numbers),
  );
}

const SECTIONS = readFileSync(join(REQUIREMENTS, 'sources.md'), 'utf8').split(/^## /m).slice(1);

test('sources.md lists the sentences of five documents, numbered in order', () => {
  const listed = SECTIONS.map((section) => ({
    document: section.split('\n', 1)[0] ?? '',
    numbers: [...section.matchAll(/^(\d+)\. \S/gm)].map(([, digits]) => Number(digits)),
  }));
  assert.deepEqual(
    listed,
    Object.entries(DOCUMENTS).map(([document, { sentences }]) => ({
      document,
      numbers: upTo(sentences),
    })),
  );
});

for (const [document, { pages, sentences }] of Object.entries(DOCUMENTS))
  test(`each sentence of ${document} has a row, and no row names another`, () => {
    const named = [...new Set(pages.flatMap(namedBy))].sort((a, b) => a - b);
    assert.deepEqual(named, upTo(sentences));
  });

test('the rows of custom-signer.md are the sentences of its source, one each, in order', () => {
  assert.deepEqual(namedBy('custom-signer'), upTo(DOCUMENTS['custom-signer']?.sentences ?? 0));
});
