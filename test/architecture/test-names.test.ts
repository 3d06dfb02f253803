// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { parseFile } from './syntax.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAX_CHARACTERS = 80;
const FUNCTIONS = ['test', 'it', 'describe'];

/** Returns the names of the tests in a source, with the expressions of templates as written. */
function namesIn(file: string): readonly string[] {
  const source = parseFile(join(ROOT, file));
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && FUNCTIONS.includes(node.expression.getText(source))) {
      const [name] = node.arguments;
      if (name !== undefined && (ts.isStringLiteral(name) || ts.isTemplateLiteral(name)))
        names.push(name.getText(source).slice(1, -1));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

test('a test name has at most 80 characters', () => {
  const files = globSync('test/**/*.ts', { cwd: ROOT });
  const long = files.flatMap((file) =>
    namesIn(file)
      .filter((name) => name.length > MAX_CHARACTERS && !name.includes('${'))
      .map((name) => `${file}: ${name}`),
  );
  assert.ok(files.length > 500);
  assert.deepEqual(long, []);
});
