// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chartFiles } from '../../build/chart/files.ts';

const root = join(import.meta.dirname, '../..');
const again = 'is not what build/chart makes of src/install; write it anew with make chart';
const files = await chartFiles();

for (const [path, text] of files) {
  test(`${path} is what the one source makes of it`, () => {
    assert.ok(existsSync(join(root, path)), `${path} ${again}`);
    assert.equal(readFileSync(join(root, path), 'utf8'), text, `${path} ${again}`);
  });
}

test('the chart has no file that is written by hand', () => {
  const found = globSync('deploy/chart/**/*.*', { cwd: root });
  assert.deepEqual(
    found.filter((path) => !files.has(path)),
    [],
  );
});
