// SPDX-License-Identifier: Apache-2.0
/** Go programs of tests name neighbouring modules by relative paths, which a move may break. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

test('each local module that a go.mod names is there', () => {
  const files = globSync('test/**/*.mod', { cwd: ROOT });
  const missing = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/=> (\.\.?\/\S+)/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(ROOT, dirname(file), path)))
      .map((path) => `${file}: ${path}`),
  );
  assert.ok(files.length > 5, files.join());
  assert.deepEqual(missing, []);
});
