// SPDX-License-Identifier: Apache-2.0
/**
 * Every command that is printed as advice can be typed: kubectl knows its resource, and countersign
 * its verb and flags.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { countersign } from '../support/cluster/countersign.ts';

const root = join(import.meta.dirname, '../..');

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
  };
}

const definitions = globSync('deploy/crds/**/*.yaml', { cwd: root })
  .filter((file) => !file.endsWith('kustomization.yaml'))
  .map((file) => parse(readFileSync(join(root, file), 'utf8')) as Definition)
  .map(({ spec }) => spec);

const categories = new Set(definitions.flatMap(({ names }) => names.categories ?? []));
/**
 * Of Kubernetes (kubectl api-resources), cert-manager and the ledger, as far as they are printed;
 * without plurals.
 */
const SERVED = [
  'apiservice',
  'certificate',
  'certificaterequest',
  'clustertrustbundle',
  'configmap',
  'csr',
  'customresourcedefinition',
  'daemonset',
  'deploy',
  'deployment',
  'event',
  'lease',
  'namespace',
  'ns',
  'node',
  'pod',
  'podcertificaterequest',
  'pvc',
  'record',
  'secret',
  'service',
  'ctb',
  'statefulset',
  'validatingadmissionpolicy',
  'validatingwebhookconfiguration',
  'clusterrole',
  'clusterrolebinding',
  'quota',
  'certificatesigningrequest',
  'resourcequota',
  'all',
  'svc',
  'role',
  'rolebinding',
  'storageclass',
  'storageclasses',
];
const known = new Set([
  ...SERVED,
  ...SERVED.map((each) => `${each}s`),
  'validatingadmissionpolicies',
  ...definitions.flatMap(({ group, names }) => {
    const own = [names.plural, names.singular, ...(names.shortNames ?? [])];
    return [...own, ...own.map((each) => `${each}.${group}`)];
  }),
]);

/** What is printed: the texts of src, the pages of the checks and the notes of the chart. */
const files = ['src/**/*.ts', 'docs/checks/*.md', 'build/chart/NOTES.txt'];
const LINES = globSync(files, { cwd: root }).flatMap((file) =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(?:\/\/|\*|\/\*\*)/.test(line))
    .map((text) => ({ file, text })),
);

const RESOURCE =
  /kubectl (?:get|describe|delete|edit|annotate|label|patch)(?: --?[a-z-]+(?:=\S+)?)* ([a-z][a-z0-9.,]*)/g;

test('each printed kubectl command names a resource that kubectl knows, no category', () => {
  const printed = LINES.flatMap(({ file, text }) =>
    [...text.matchAll(RESOURCE)].flatMap(([command, resources = '']) =>
      resources.split(',').map((resource) => ({ file, command, resource })),
    ),
  );
  assert.ok(printed.length > 20, String(printed.length));
  const wrong = printed.filter(({ resource }) => categories.has(resource) || !known.has(resource));
  assert.deepEqual(
    wrong.map(({ file, command }) => `${file}: ${command}`),
    [],
  );
});

test('each printed countersign command is one that there is, with flags that it has', async () => {
  const { stdout } = await countersign(['__commands']);
  const commands = JSON.parse(stdout) as readonly { path: string; flags: readonly string[] }[];
  const byPath = new Map(commands.map(({ path, flags }) => [path, flags]));
  const printed = LINES.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:\$ |^)countersign ([a-z][^|#>;'"`)]*)/g)].map(([, typed = '']) => ({
      file,
      words: typed.trim().split(/\s+/),
    })),
  );
  assert.ok(printed.length > 20, String(printed.length));
  const wrong = printed.flatMap(({ file, words }) => {
    const paths = [words.slice(0, 2).join(' '), words[0] ?? ''];
    const path = paths.find((each) => byPath.has(each));
    if (path === undefined) return [`${file}: no command ${words.join(' ')}`];
    return words
      .filter((word) => word.startsWith('--'))
      .map((word) => word.split('=')[0] ?? '')
      .filter((flag) => flag !== '--help' && byPath.get(path)?.includes(flag) !== true)
      .map((flag) => `${file}: ${path} has no ${flag}`);
  });
  assert.deepEqual(wrong, []);
});
