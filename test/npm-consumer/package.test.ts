// SPDX-License-Identifier: Apache-2.0
/** The package as `npm pack` makes it, in somebody else's hands. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { parse, parseAllDocuments } from 'yaml';
import { node, packOutsider, type Outsider } from '../support/cluster/npm-package.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Document {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

let outsider: Outsider;
let manifest: Manifest;
let installed: string;
before(() => {
  outsider = packOutsider([
    'examples/key-on-disk.ts',
    'examples/step-ca.ts',
    'test/npm-consumer/signer.ts',
    'test/npm-consumer/package.json',
    'test/npm-consumer/types.tsconfig.json',
  ]);
  installed = join(outsider.directory, 'node_modules/countersign');
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
});
after(() => {
  outsider.remove();
});

test('every export is a file of the package', () => {
  const files = Object.values(manifest.exports).flatMap((each) =>
    typeof each === 'string' ? [each] : Object.values(each),
  );
  assert.ok(files.length >= 3);
  for (const file of files) assert.ok(readFileSync(join(installed, file), 'utf8').length > 0);
});

test('publint finds nothing to say of it, not even a suggestion', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true });
  assert.deepEqual(
    messages.map((each) => formatMessage(each, pkg)),
    [],
  );
});

test('its types are whole: strict programs of others compile without ours', () => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', 'types.tsconfig.json', '--typeRoots', join(ROOT, 'node_modules/@types')];
  execFileSync(process.execPath, args, { cwd: outsider.directory, stdio: 'inherit' });
});

test('it has no code that starts a component of ours', () => {
  const code = readFileSync(join(installed, 'dist/library/index.mjs'), 'utf8');
  const files = [...code.matchAll(/^\/\/ (src\/\S+)$/gm)].map(([, file]) => file ?? '');
  assert.ok(files.includes('src/install/component-list.ts'), 'the names of files are in the code');
  assert.deepEqual(
    [...new Set(files.filter((file) => file.endsWith('/run.ts')))],
    ['src/library/run.ts'],
  );
});

test('all that its code imports are its own dependencies', () => {
  const code = readFileSync(join(installed, 'dist/library/index.mjs'), 'utf8');
  const imported = [...code.matchAll(/^(?:import|export) .*?"([^"]+)";$/gm)].map(
    ([, name = '']) => name,
  );
  const packages = imported
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );
  assert.ok(packages.length > 3);
  assert.deepEqual(
    packages.filter((name) => !(name in manifest.dependencies)),
    [],
  );
});

for (const [program, plural, group] of [
  ['signer.ts', 'outsiders', 'outside.example.com'],
  ['key-on-disk.ts', 'diskissuers', 'disk.example.com'],
  ['step-ca.ts', 'stepissuers', 'step.example.com'],
] as const) {
  test(`${program} runs on the public exports: it prints the definition of its kind`, () => {
    const crd = parse(node(join(outsider.directory, program), ['crd'])) as Document;
    assert.deepEqual(
      [crd.kind, crd.metadata.name],
      ['CustomResourceDefinition', `${plural}.${group}`],
    );
  });

  test(`${program} prints roles that neither approve nor write Secrets`, () => {
    const text = node(join(outsider.directory, program), ['roles', `${plural}.${group}/one`]);
    const documents = parseAllDocuments(text).map((each) => each.toJS() as Document);
    assert.equal(documents[0]?.kind, 'ServiceAccount');
    const rules = documents.flatMap(({ rules = [] }) => rules);
    const verbsOn = (resource: string): readonly string[] =>
      rules.filter(({ resources }) => resources.includes(resource)).flatMap(({ verbs }) => verbs);
    assert.deepEqual(verbsOn('signers'), ['sign']);
    assert.deepEqual(verbsOn(`${plural}/status`), ['update']);
    assert.deepEqual(verbsOn('certificatesigningrequests/approval'), []);
    assert.deepEqual(
      verbsOn('secrets').filter((verb) => verb !== 'get'),
      [],
    );
  });
}
