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
