// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cachedFileReader } from '#ledger/sender/cached-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'read-again-'));
after(() => rmSync(directory, { recursive: true }));

test('a file that is replaced is read again after five seconds, and not before', async () => {
  const file = join(directory, 'token');
  let now = 1_000;
  const read = cachedFileReader(file, () => now);
  writeFileSync(file, 'first');
  assert.equal(await read(), 'first');
  writeFileSync(file, 'second');
  now += 4_999;
  assert.equal(await read(), 'first');
  now += 1;
  assert.equal(await read(), 'second');
});

test('a file that cannot be read is tried again each time', async () => {
  const file = join(directory, 'later');
  const read = cachedFileReader(file, () => 0);
  await assert.rejects(read(), { code: 'ENOENT' });
  writeFileSync(file, 'there');
  assert.equal(await read(), 'there');
});
