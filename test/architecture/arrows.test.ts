// SPDX-License-Identifier: Apache-2.0
/** Who may import whom. A failure names the culprit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closureOf, readSource, readSources, type Source } from './sources.ts';

const sources = readSources();

const CORE = ['protobuf', 'api', 'pki', 'cel', 'issuance', 'policy', 'rotation'];
const PURE = [...CORE, 'conformance'];
const SERVED = [...CORE, 'kube', 'authorities/contract.ts'];

/** Folder → what it may import besides itself and L0 (errors, ports, vocabulary). */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  '': [],
  protobuf: [],
  api: ['protobuf'],
  pki: [],
  cel: [],
  issuance: ['api', 'pki', 'cel'],
  policy: ['api', 'pki', 'cel'],
  rotation: ['api', 'pki', 'issuance'],
  conformance: ['api', 'pki'],
  authorities: ['issuance', 'pki'],
  kube: ['protobuf'],
  web: [],
  serving: SERVED,
  controllers: [...SERVED, 'serving'],
  probe: ['api', 'pki', 'kube', 'conformance'],
  library: [...SERVED, 'serving', 'controllers', 'authorities', 'cli'],
  cli: [
    ...SERVED,
    ...['serving', 'controllers', 'authorities', 'web', 'conformance', 'probe'],
    '../package.json',
  ],
};

/** Package → the only folders, or files, that may import it. pkijs and asn1js are for tests. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['kube'],
  undici: ['kube'],
  express: ['web'],
  'prom-client': ['web'],
  '@marcbachmann/cel-js': ['cel'],
  re2js: ['cel'],
  zod: ['api'],
  commander: ['cli', 'library'],
  pino: ['cli'],
  'pino-pretty': ['cli'],
  yaml: ['cli', 'kube/kubeconfig.ts'],
};

/** What pure code may use of Node: arithmetic on bytes and texts, no I/O. */
const PURE_NODE: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': PURE,
  'node:net': ['pki'],
  'node:util': ['pki'],
};

test('arrows go down only, and never sideways between controllers', () => {
  assert.deepEqual(sources.flatMap(wrongImports), []);
});

test('a package is imported where it belongs, and nowhere else', () => {
  assert.deepEqual(sources.flatMap(wrongPackages), []);
});

test('only cli reads flags and the environment, and ends the process', () => {
  const global = /\bprocess\.(?:env|argv|exit|exitCode)\b/;
  assert.deepEqual(outsideCli(global, 'reads or ends the process'), []);
});

test('time, chance and waiting are passed in by cli', () => {
  const global = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bset(?:Timeout|Interval)\(/;
  assert.deepEqual(outsideCli(global, 'has a clock, dice or a timer of its own'), []);
});

test('the approver never loads the code that reads a key', () => {
  const approver = closureOf('cli/commands/approver.ts', sources);
  assert.ok(approver.has('controllers/approver/index.ts'));
  assert.ok(
    !approver.has('authorities/local.ts'),
    'cli/commands/approver.ts → authorities/local.ts',
  );
});

/** Above it, a file is two files. */
const MOST_LINES = 300;
const MEDIAN_LINES = 80;

test('files are of one noun or one verb: small, and named for it', () => {
  const lines = sources.map(({ path, text }) => ({ path, count: text.split('\n').length - 1 }));
  const long = lines.filter(({ count }) => count > MOST_LINES);
  assert.deepEqual(
    long.map(({ path, count }) => `${path} has ${count} lines`),
    [],
  );
  const counts = lines.map(({ count }) => count).sort((a, b) => a - b);
  const median = counts[Math.floor(counts.length / 2)] ?? 0;
  assert.ok(median <= MEDIAN_LINES, `the median file has ${median} lines`);
  const vague = sources.filter(({ path }) => /(?:^|\/)(?:utils?|helpers?|common)\b/.test(path));
  assert.deepEqual(
    vague.map(({ path }) => path),
    [],
  );
});

// The rules are seen to bite.
const wrong: [path: string, text: string, says: string][] = [
  ['policy/x.ts', "import '../kube/y.ts';", 'policy/x.ts imports kube/y.ts'],
  ['api/x.ts', "import type { Y } from '../pki/y.ts';", 'api/x.ts imports pki/y.ts'],
  ['errors.ts', "export * from './api/y.ts';", 'errors.ts imports api/y.ts'],
  ['policy/x.ts', "import '../issuance/y.ts';", 'policy/x.ts imports issuance/y.ts'],
  [
    'controllers/signer/x.ts',
    "await import('../approver/y.ts');",
    'controllers/signer/x.ts imports controllers/approver/y.ts',
  ],
  [
    'serving/x.ts',
    "import '../authorities/local.ts';",
    'serving/x.ts imports authorities/local.ts',
  ],
  ['pki/x.ts', "import 'pkijs';", 'pki/x.ts imports pkijs'],
  ['kube/client.ts', "import 'yaml';", 'kube/client.ts imports yaml'],
  ['issuance/x.ts', "import 'node:fs';", 'issuance/x.ts imports node:fs'],
];

for (const [path, text, says] of wrong) {
  test(`found: ${says}`, () => {
    const source = readSource(path, text);
    assert.deepEqual([...wrongImports(source), ...wrongPackages(source)], [says]);
  });
}

function wrongImports({ path, imports }: Source): readonly string[] {
  const folder = folderOf(path);
  const allowed = ARROWS[folder] ?? [];
  const wrongOnes = imports.filter((each) => {
    if (folderOf(each) === '') return false;
    return unitOf(each) !== unitOf(path) && !isIn(each, allowed);
  });
  return wrongOnes.map((each) => `${path} imports ${each}`);
}

function wrongPackages({ path, packages }: Source): readonly string[] {
  const isPure = isIn(path, ['errors.ts', 'ports.ts', 'vocabulary.ts', ...PURE]);
  const wrongOnes = packages.filter((name) =>
    name.startsWith('node:')
      ? (isPure && !isIn(path, PURE_NODE[name] ?? [])) || isProcess(name, path)
      : !isIn(path, PACKAGES[name] ?? []),
  );
  return wrongOnes.map((name) => `${path} imports ${name}`);
}

function isProcess(name: string, path: string): boolean {
  return name === 'node:process' && folderOf(path) !== 'cli';
}

function outsideCli(pattern: RegExp, what: string): readonly string[] {
  return sources
    .filter(({ path, text }) => folderOf(path) !== 'cli' && pattern.test(withoutComments(text)))
    .map(({ path }) => `${path} ${what}`);
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
}

/** `places` are folders and files. */
function isIn(path: string, places: readonly string[]): boolean {
  return places.includes(path) || places.includes(folderOf(path));
}

function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}

/** What counts as one: a folder, but each controller by itself. */
function unitOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('controllers/') ? 2 : 1)
    .join('/');
}
