// SPDX-License-Identifier: Apache-2.0
/**
 * A cast takes a value's type from the author and not from a check. Each has its reason in a
 * comment on it, and their number may only fall.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { parseFile, parseText } from './syntax.ts';

/** The number of casts in src. */
const MAX_CASTS = 86;

const SRC = join(import.meta.dirname, '../../src');

/** `x as T`, `<T>x` and `x!`. `as const` takes nothing from a check. */
function isCast(node: ts.Node): boolean {
  if (ts.isAsExpression(node)) return !ts.isConstTypeReference(node.type);
  return ts.isTypeAssertionExpression(node) || ts.isNonNullExpression(node);
}

/** Reports whether a comment stands right above the cast, or above the statement or member. */
function hasReason(node: ts.Node, tree: ts.SourceFile): boolean {
  let part = node;
  while (!ts.isStatement(part) && !ts.isObjectLiteralElement(part) && !ts.isClassElement(part))
    part = part.parent;
  const lines = tree.text.split('\n');
  return [node, part].some((each) => {
    const { line } = tree.getLineAndCharacterOfPosition(each.getStart(tree));
    return /^\/\/ |\*\/$/.test(lines[line - 1]?.trim() ?? '');
  });
}

function castsIn(tree: ts.SourceFile): readonly { place: string; hasReason: boolean }[] {
  const found: { place: string; hasReason: boolean }[] = [];
  const visit = (node: ts.Node): void => {
    if (isCast(node)) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
      const place = `${tree.fileName.replace(`${SRC}/`, '')}:${line + 1}`;
      found.push({ place, hasReason: hasReason(node, tree) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const casts = globSync('**/*.ts', { cwd: SRC }).flatMap((path) =>
  castsIn(parseFile(join(SRC, path))),
);

test('there are no more casts than before', () => {
  assert.ok(casts.length <= MAX_CASTS, `${casts.length}, and at most ${MAX_CASTS}`);
});

test('every cast has its reason in a comment', () => {
  const places = casts.filter((each) => !each.hasReason).map(({ place }) => place);
  assert.deepEqual(places, []);
});

const ROWS: readonly [code: string, casts: number, reasons: number][] = [
  ['const a = b as T;', 1, 0],
  ['// The server checks it.\nconst a = b as T;', 1, 1],
  ['const a = b as T; // The server checks it.', 1, 0],
  ['const a = b as unknown as T;', 2, 0],
  ['const a = <T>b;', 1, 0],
  ['const a = b!;', 1, 0],
  ["const a = ['b'] as const;", 0, 0],
  ["import { b as c } from './b.ts';", 0, 0],
  ['const a = b satisfies T;', 0, 0],
];

for (const [code, count, reasons] of ROWS) {
  test(`${JSON.stringify(code)} has ${count} casts, ${reasons} with a reason`, () => {
    const found = castsIn(parseText('x.ts', code));
    assert.equal(found.length, count);
    assert.equal(found.filter((each) => each.hasReason).length, reasons);
  });
}
