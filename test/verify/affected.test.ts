// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affectedBy, type Affected } from './affected.ts';
import { ImportGraph } from './import-graph.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'src/base/a.ts': '',
  'src/kube/b.ts': "import '#base/a.ts';",
  'src/kube/c.ts': '',
  'docs/errors.md': '',
  'test/kube/b.test.ts': "import '../../src/kube/b.ts';",
  'test/kube/c.test.ts': "import '../../src/kube/c.ts';\nread('docs/errors.md');",
  'test/kube/c-run.ts': "import '../../src/kube/c.ts';",
  'test/integration/b.test.ts': "import '../../src/kube/b.ts';",
  'test/architecture/arrows.test.ts': "import '../../src/kube/c.ts';",
};
const files = Object.keys(TEXTS);
const graph = new ImportGraph({ files, read: (path) => TEXTS[path] ?? '' });

function affected(...changed: readonly string[]): Affected {
  return affectedBy({ changed, files, folders: ['test/kube', 'test/architecture'] }, graph);
}

test('a unit test is affected by a change of what it imports, however far away', () => {
  assert.deepEqual(affected('src/base/a.ts').tests, ['test/kube/b.test.ts']);
});

test('a unit test is affected by a change of a page that it names, and of itself', () => {
  assert.deepEqual(affected('docs/errors.md').tests, ['test/kube/c.test.ts']);
  assert.deepEqual(affected('test/kube/c.test.ts').tests, ['test/kube/c.test.ts']);
});

test('suites that are no unit tests are not affected', () => {
  assert.deepEqual(affected('test/kube/c-run.ts', 'test/integration/b.test.ts').tests, []);
});

test('format takes each changed file that is there, lint those of code', () => {
  const { format, lint } = affected('docs/errors.md', 'src/kube/c.ts', 'src/kube/gone.ts');
  assert.deepEqual(format, ['docs/errors.md', 'src/kube/c.ts']);
  assert.deepEqual(lint, ['src/kube/c.ts']);
});
