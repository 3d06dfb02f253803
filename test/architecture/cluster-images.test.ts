// SPDX-License-Identifier: Apache-2.0
/** `make cluster ARGS=--real-pods` has every image that a page or an example names. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { COUNTERSIGN_IMAGES, SERVER_IMAGES } from '../cluster/real-pods/images.ts';

const ROOT = join(import.meta.dirname, '../..');
/** In YAML, and as a flag of kubectl or countersign. */
const IMAGE = /(?:\bimage: |--image[ =])(?<name>[a-z0-9][\w./:@-]*)/g;
/** A value of the chart, which adds the version as the tag. */
const REPOSITORY = /(?:\bimage\.repository=|^ *repository: )(?<name>[a-z0-9][\w./-]*)/gm;
/** Nothing here runs Envoy: its example is held by its definitions alone. */
const NOT_RUN = /^envoyproxy\/envoy:/;

function imagesOf(text: string): readonly string[] {
  const names = [...text.matchAll(IMAGE), ...text.matchAll(REPOSITORY)].map(
    ({ groups }) => groups?.['name'] ?? '',
  );
  const tagged = (name: string): string =>
    /[:@][^/]*$/.test(name) ? name : `${name}:${packageJson.version}`;
  return [...new Set(names.map(tagged))].filter((name) => !NOT_RUN.test(name));
}

const there = new Set([...COUNTERSIGN_IMAGES, ...SERVER_IMAGES]);
const files = globSync(['README.md', 'docs/how-to/*.md', '{examples,deploy}/**/*.yaml'], {
  cwd: ROOT,
  exclude: (name) => name.includes('node_modules') || name.includes('chart/templates'),
});

test('pages and examples name images', () => {
  const named = new Set(files.flatMap((file) => imagesOf(readFileSync(join(ROOT, file), 'utf8'))));
  for (const name of ['registry.k8s.io/pause:3.10', 'nginx:1.29']) assert.ok(named.has(name), name);
});

for (const file of files.sort()) {
  const named = imagesOf(readFileSync(join(ROOT, file), 'utf8'));
  if (named.length === 0) continue;
  test(`${file}: the cluster whose pods run has ${named.join(', ')}`, () => {
    assert.deepEqual(
      named.filter((name) => !there.has(name)),
      [],
    );
  });
}
