// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqlite, storeOf } from '#ledger/index.ts';

const src = join(import.meta.dirname, '../../../src');

test('each call that a store answers is made by somebody outside its room', async () => {
  const store = storeOf(openSqlite(':memory:'));
  const outside = globSync('**/*.ts', { cwd: src, exclude: ['ledger/store/**'] });
  const signing = join('ledger/store', 'sign.ts');
  const made = new Set(
    [...outside, signing].flatMap((file) =>
      [...readFileSync(join(src, file), 'utf8').matchAll(/[sS]tore\s*\.(\w+)\(/g)].map(
        ([, method = '']) => method,
      ),
    ),
  );
  assert.deepEqual(
    Object.keys(store).filter((method) => !made.has(method)),
    [],
  );
  await store.close();
});
