// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { LIBRARY_API_PAGE, renderLibraryApi } from '../../build/library-api.ts';

test('docs/reference/library-api.md is what make library-docs writes', async () => {
  assert.equal(await readFile(LIBRARY_API_PAGE, 'utf8'), await renderLibraryApi());
});

test('the API page has a type on one line that its source wraps', async () => {
  const cells = (await renderLibraryApi()).split('\n').filter((line) => line.startsWith('| `'));
  assert.ok(cells.length > 50);
  assert.deepEqual(
    cells.filter((line) => /\( \w|, \)/.test(line)),
    [],
  );
});
