// SPDX-License-Identifier: Apache-2.0
/** docs/explanation/field-cases.md names tests that are there. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { parseFile } from './syntax.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = 'docs/explanation/field-cases.md';
const NO_TEST = /^No test: \S/;
/** A file, and the names of its tests, up to the next file. */
const NAMED = /`([\w./-]+)`: (.+?)(?=\. `[\w./-]+`: |$)/g;

/** The cells of each row, without the heads of tables. */
function rowsOf(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:-|Report |Found while)/.test(line))
    .map((line) => {
      const cells = line.split(/(?<!\\)\|/).slice(1, -1);
      return cells.map((cell) => cell.trim().replaceAll(/\\(.)/g, '$1'));
    });
}

function fileOf(named: string): string | undefined {
  const paths = [`${named}.test.ts`, `${named}.ts`].map((each) => join(ROOT, 'test', each));
  return paths.find((path) => existsSync(path));
}

/** The texts of a file's literals and keys, with `…` for each expression of a template. */
function textsOf(path: string): readonly string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      texts.push(
        node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join(''),
      );
    ts.forEachChild(node, visit);
  };
  visit(parseFile(path));
  return texts;
}

/** `…` stands for any text. */
function isNamed(name: string, text: string): boolean {
  const parts = name.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

/** What a cell names and no test has. */
function missingIn(cell: string): readonly string[] {
  return [...cell.matchAll(NAMED)].flatMap(([, file = '', names = '']) => {
    const path = fileOf(file);
    if (path === undefined) return [`no file: ${file}`];
    const texts = textsOf(path);
    return names
      .split('; ')
      .filter((name) => !texts.some((text) => isNamed(name, text)))
      .map((name) => `${file}: ${name}`);
  });
}

const rows = rowsOf(readFileSync(join(ROOT, PAGE), 'utf8'));

test('each test that field-cases.md names is there', () => {
  assert.ok(rows.length > 70, String(rows.length));
  assert.deepEqual(
    rows.flatMap((row) => missingIn(row.at(-1) ?? '')),
    [],
  );
});

test('each case has a test, or says that it has none', () => {
  const holders = rows.map((row) => row.at(-1) ?? '');
  assert.deepEqual(
    holders.filter((cell) => !NO_TEST.test(cell) && [...cell.matchAll(NAMED)].length === 0),
    [],
  );
});

test('a file or a name that is not there is found, and a rest that is left out is not', () => {
  const here = 'architecture/field-cases';
  assert.deepEqual(missingIn(`\`${here}\`: each test that …; each … says that it has none`), []);
  assert.deepEqual(missingIn(`\`${here}\`: ${['each test', 'is'].join(' ')}. \`gone/file\`: x`), [
    `${here}: each test is`,
    'no file: gone/file',
  ]);
});
