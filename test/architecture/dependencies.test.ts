// SPDX-License-Identifier: Apache-2.0
/** Every dependency is there for a written reason. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const [, shipped = '', development = ''] = read('docs/reference/dependencies.md').split('\n## ');

const packagesOf = (section: string): readonly (string | undefined)[] =>
  [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);

test('every package has its row, and every row its package', () => {
  assert.deepEqual(packagesOf(shipped), Object.keys(manifest.dependencies));
  assert.deepEqual(packagesOf(development), Object.keys(manifest.devDependencies));
});

test('every version is pinned exactly', () => {
  const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  const loose = all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
  assert.deepEqual(loose, []);
});
