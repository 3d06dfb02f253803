// SPDX-License-Identifier: Apache-2.0
/** What a stranger must not meet in `src`. A failure names the culprit. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  constantsWithTwoValues,
  crumbs,
  exportsWithoutDocstring,
  foldersWithoutPage,
  houseFile,
  longFiles,
  longFunctions,
  readHouse,
  readUsers,
  resourcesWrittenTwice,
  typeNamesWithTwoShapes,
  unusedExports,
  type HouseFile,
} from './house.ts';

const files = readHouse();
const SRC = join(import.meta.dirname, '../../src');

test('no file of src has more than 400 lines of code', () => {
  assert.deepEqual(longFiles(files), []);
});

test('no function of src has more than 80 lines', () => {
  assert.deepEqual(longFunctions(files), []);
});

test('a file under 20 lines has more than one importer, or none beside it', () => {
  assert.deepEqual(crumbs(files), []);
});

test('a folder with five files or more has a contents page', () => {
  const isThere = (path: string): boolean => existsSync(join(SRC, path));
  assert.deepEqual(foldersWithoutPage(files, isThere), []);
});

test('an exported type name has one meaning', () => {
  assert.deepEqual(typeNamesWithTwoShapes(files), []);
});

test('two numbers of one name are equal', () => {
  assert.deepEqual(constantsWithTwoValues(files), []);
});

test('the resource of a kind is written in one place', () => {
  assert.deepEqual(resourcesWrittenTwice(files), []);
});

test('another file of src, or a program of the repository, imports every export', () => {
  assert.deepEqual(unusedExports(files, readUsers()), []);
});

test('every export of pki, library and conformance has a docstring', () => {
  assert.deepEqual(exportsWithoutDocstring(files), []);
});

test('no file is named for what has no name: utils, helpers, common', () => {
  const vague = files.filter(({ path }) => /(?:^|\/)(?:utils?|helpers?|common)\b/.test(path));
  assert.deepEqual(
    vague.map(({ path }) => path),
    [],
  );
});

// Each rule is seen to bite.
const lines = (count: number): string => '// x\n'.repeat(count);
const one = (path: string, text: string): HouseFile => houseFile(path, text);

const BITES: readonly [
  rule: (files: readonly HouseFile[]) => readonly string[],
  files: readonly HouseFile[],
  says: string,
][] = [
  [
    longFiles,
    [one('kube/x.ts', `// y\n\n${'f();\n'.repeat(401)}`)],
    'kube/x.ts has 401 lines of code',
  ],
  [
    longFunctions,
    [one('kube/x.ts', `const far = () => {\n${lines(80)}};`)],
    'kube/x.ts: far has 82 lines',
  ],
  [
    crumbs,
    [one('kube/x.ts', "import { y } from './y.ts';"), one('kube/y.ts', 'export const y = 1;\n')],
    'kube/y.ts has 1 lines and one importer, kube/x.ts',
  ],
  [
    typeNamesWithTwoShapes,
    [one('kube/x.ts', 'export interface Held {}'), one('pki/y.ts', 'export type Held = 1;')],
    'Held is exported by kube/x.ts and pki/y.ts',
  ],
  [
    constantsWithTwoValues,
    [one('kube/x.ts', 'const POLL_MS = 5_000;'), one('pki/y.ts', 'export const POLL_MS = 300;')],
    'POLL_MS is 5000 in kube/x.ts; 300 in pki/y.ts',
  ],
  [
    resourcesWrittenTwice,
    [
      one('kube/x.ts', "const PODS = resource({ group: '', version: 'v1', plural: 'pods' });"),
      one('cli/y.ts', "resource({ version: 'v1',\n  group: '', plural: 'pods',\n})"),
    ],
    "{ group: '', plural: 'pods', version: 'v1' } is in kube/x.ts and cli/y.ts",
  ],
  [
    unusedExports,
    [one('kube/x.ts', 'export const x = 1;')],
    'kube/x.ts: x is exported and imported by no other file of src',
  ],
  [
    exportsWithoutDocstring,
    [one('pki/x.ts', 'export const x = 1;')],
    'pki/x.ts: x has no docstring',
  ],
  [
    (all) => foldersWithoutPage(all, () => false),
    Array.from({ length: 5 }, (_, index) => one(`kube/wait/x${index}.ts`, '')),
    'kube/wait/ has no README.md and no index.ts',
  ],
];

for (const [rule, found, says] of BITES) {
  test(`found: ${says}`, () => {
    assert.deepEqual(rule(found), [says]);
  });
}

test('a type that a signature names may be exported without an importer', () => {
  const text = 'export interface Shape {}\nexport function f(shape: Shape): void {}';
  const user = one('kube/y.ts', "import { f } from './x.ts';");
  assert.deepEqual(unusedExports([one('kube/x.ts', text), user]), []);
});

test('a file of texts is no crumb', () => {
  const importer = one('kube/x.ts', "import * as messages from './messages.ts';");
  assert.deepEqual(crumbs([importer, one('kube/messages.ts', 'export const Y = 1;\n')]), []);
});

test('a file that its only importer loads lazily is no crumb', () => {
  const importer = one('cli/x.ts', "await import('./y.ts');");
  assert.deepEqual(crumbs([importer, one('cli/y.ts', 'export const y = 1;\n')]), []);
});
