// SPDX-License-Identifier: Apache-2.0
/** No test is left out in silence: `make` names each folder of tests. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const makefile = readFileSync(join(ROOT, 'Makefile'), 'utf8');

test('each folder of tests is named by a target', () => {
  const folders = new Set(
    globSync('test/*/**/*.test.ts', { cwd: ROOT }).map((file) => file.split('/')[1] ?? ''),
  );
  assert.ok(folders.size > 20, [...folders].join());
  const unnamed = [...folders].filter(
    (folder) => !new RegExp(`\\btest/${folder}(?![\\w-])`).test(makefile),
  );
  assert.deepEqual(unnamed, []);
});

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

for (const name of ['build', 'lint', 'start', 'test'])
  test(`npm run ${name} calls make targets that exist`, () => {
    const make = /^make( --silent)?(?<targets>( [a-z0-9./-]+)+)/.exec(scripts[name] ?? '');
    assert.ok(make, `package.json has no script "${name}" that calls make`);
    for (const target of make.groups?.['targets']?.trim().split(' ') ?? [])
      assert.match(makefile, new RegExp(`^${target.replaceAll('.', '[.]')}:`, 'm'));
  });

// A stale bundle would be tested in place of the sources.
test('each target that takes the control plane also builds the bundle', () => {
  const rules = [...makefile.matchAll(/^(?<target>[a-z0-9.-]+):(?<needs>[^#\n]*)/gm)];
  const takers = rules.filter(({ groups }) => / controlplane\b/.test(groups?.['needs'] ?? ''));
  assert.ok(takers.length > 20, String(takers.length));
  const stale = takers
    .filter(({ groups }) => !/ dist\/countersign\.mjs\b/.test(groups?.['needs'] ?? ''))
    .map(({ groups }) => groups?.['target']);
  assert.deepEqual(stale, []);
});
