// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImportGraph, type Reach } from './import-graph.ts';

/** A repository of files with these texts. */
function graphOf(texts: Readonly<Record<string, string>>): ImportGraph {
  return new ImportGraph({ files: Object.keys(texts), read: (path) => texts[path] ?? '' });
}

function filesOf(reach: Reach): readonly string[] {
  return [...reach.files].sort();
}

const ONE = 'test/one/one-run.ts';

test('imports are followed to their end: of a type, lazy, by #room, and of the library', () => {
  const graph = graphOf({
    [ONE]: "import { a } from '../../src/kube/a.ts';\nimport type { L } from 'countersign';",
    'src/kube/a.ts': "import { b } from '#base/b.ts';",
    'src/base/b.ts': "export const c = () => import('./c.ts');",
    'src/base/c.ts': '',
    'src/base/alone.ts': '',
    'src/library/index.ts': '',
  });
  assert.deepEqual(filesOf(graph.reachOf([ONE])), [
    'src/base/b.ts',
    'src/base/c.ts',
    'src/kube/a.ts',
    'src/library/index.ts',
    ONE,
  ]);
});

test('a file that a string names is reached, with its imports', () => {
  const graph = graphOf({
    [ONE]: "start(join(import.meta.dirname, './two.ts'));\nread(join(ROOT, 'docs/errors.md'));",
    'test/one/two.ts': "import './three.ts';",
    'test/one/three.ts': '',
    'test/one/four.ts': '',
    'docs/errors.md': '',
    'docs/glossary.md': '',
  });
  assert.deepEqual(filesOf(graph.reachOf([ONE])), [
    'docs/errors.md',
    ONE,
    'test/one/three.ts',
    'test/one/two.ts',
  ]);
});

test('a folder that a string names is reached with all below it, also what is gone', () => {
  const graph = graphOf({
    [ONE]: "apply(join(ROOT, 'deploy')); read(`docs/how-to/${name}.md`); glob('docs/adr/*.md');",
    'deploy/a/b.yaml': '',
    'docs/how-to/c.md': '',
    'docs/adr/d.md': '',
    'docs/e.md': '',
  });
  const { has } = graph.reachOf([ONE]);
  const paths = ['deploy/a/b.yaml', 'docs/how-to/c.md', 'docs/adr/d.md', 'deploy/gone.yaml'];
  assert.deepEqual(paths.filter(has), paths);
  assert.equal(has('docs/e.md'), false);
});

test('what is beside a test is reached, except other code', () => {
  const graph = graphOf({
    [ONE]: '',
    'test/one/judge/main.go': '',
    'test/one/fixture.json': '',
    'test/one/other.ts': '',
    'test/two/fixture.json': '',
  });
  const { has } = graph.reachOf([ONE]);
  assert.deepEqual(
    ['test/one/judge/main.go', 'test/one/fixture.json', 'test/one/gone.json'].filter(has).length,
    3,
  );
  assert.deepEqual(['test/one/other.ts', 'test/two/fixture.json'].filter(has), []);
});

test('a pattern among the roots reaches each file that fits it, and one that is gone', () => {
  const graph = graphOf({ [ONE]: '', 'test/one/other.ts': '' });
  const { has } = graph.reachOf(['test/one/*-run.ts']);
  assert.deepEqual([ONE, 'test/one/gone-run.ts', 'test/one/other.ts'].filter(has), [
    ONE,
    'test/one/gone-run.ts',
  ]);
});

test('strings that name no file of the repository reach nothing', () => {
  const deep = 'test/one/deep/deep-run.ts';
  const graph = graphOf({
    [deep]:
      "join(import.meta.dirname, '../..'); allow('*.one.example'); verbs(['*']); see('docs');",
    'test/one/deep/other.ts': '',
    'test/two/x.ts': '',
  });
  assert.deepEqual(filesOf(graph.reachOf([deep])), [deep]);
});

test('a comment and a text of the product name no file', () => {
  const graph = graphOf({
    [ONE]: "// See 'docs/errors.md'.\n/** `docs/errors.md` */\nimport '../../src/a.ts';",
    'src/a.ts': "const page = 'docs/errors.md';",
    'docs/errors.md': '',
  });
  assert.equal(graph.reachOf([ONE]).has('docs/errors.md'), false);
});
