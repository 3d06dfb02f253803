// SPDX-License-Identifier: Apache-2.0
/**
 * A class that is constructed for one call is a function in another form, whose methods dodge the
 * limit of a function's lines. It needs a reason: state that several methods change.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { isExported, parseText } from './syntax.ts';

const SRC = join(import.meta.dirname, '../../src');

/** Each such class with the state that its methods share. */
const REASONS: Readonly<Record<string, string>> = {
  'cel/pattern/automaton.ts Automaton': 'five methods add to the work, and share three caches',
  'cel/pattern/one-pass.ts Search': 'the steps call each other, and share the sets of one visit',
  'kube/workqueue/run-loop.ts Loop': 'callbacks of the queue and of timers change its seats',
};

/** Returns the constructions of each class of a file. */
function constructionsIn(tree: ts.SourceFile): ReadonlyMap<string, readonly ts.NewExpression[]> {
  const found: ts.NewExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return Map.groupBy(found, ({ expression }) => expression.getText(tree));
}

/** Reports whether the construction is that of `new X(…).method(…)`. */
function isOfOneCall({ parent }: ts.NewExpression): boolean {
  if (!ts.isPropertyAccessExpression(parent)) return false;
  return ts.isCallExpression(parent.parent) && parent.parent.expression === parent;
}

/** Returns the classes of a file that are constructed in one place, for one call. */
function methodObjectsIn(tree: ts.SourceFile): readonly string[] {
  const constructions = constructionsIn(tree);
  return tree.statements.flatMap((statement) => {
    if (!ts.isClassDeclaration(statement) || isExported(statement)) return [];
    const name = statement.name?.text ?? '';
    const [first, ...others] = constructions.get(name) ?? [];
    return first !== undefined && others.length === 0 && isOfOneCall(first) ? [name] : [];
  });
}

test('every class that is constructed for one call has a reason', () => {
  const found = globSync('**/*.ts', { cwd: SRC }).flatMap((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    if (!/^(?:abstract )?class /m.test(text)) return [];
    return methodObjectsIn(parseText(path, text)).map((name) => `${path} ${name}`);
  });
  assert.deepEqual(found.toSorted(), Object.keys(REASONS).toSorted());
});

const RUN = 'class X { run() {} }';
const ROWS: readonly [code: string, found: readonly string[]][] = [
  [`${RUN} export const run = () => new X().run();`, ['X']],
  [`${RUN} export const run = async () => { await new X(1).run(2); };`, ['X']],
  [`export ${RUN} export const run = () => new X().run();`, []],
  [`${RUN} export const x = new X();`, []],
  [`${RUN} export const run = () => new X().run;`, []],
  [`${RUN} export const run = () => [new X().run(), new X().run()];`, []],
];
for (const [code, found] of ROWS) {
  test(`${JSON.stringify(code)} has ${found.length} such classes`, () => {
    assert.deepEqual(methodObjectsIn(parseText('x.ts', code)), found);
  });
}
