// SPDX-License-Identifier: Apache-2.0
/** Errors of Node about files say what is wrong with the file, in words and by errno(3). */
import assert from 'node:assert/strict';
import { mkdtempSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { messageOf } from '#base/errors.ts';

const directory = mkdtempSync(join(tmpdir(), 'countersign-errors-'));
const missing = join(directory, 'none');

async function faultOf(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    return messageOf(error);
  }
  return 'no error';
}

test('the message about a missing file names the file and the cause', async () => {
  assert.equal(
    await faultOf(() => readFile(missing, 'utf8')),
    `cannot open ${missing}: there is no such file (ENOENT)`,
  );
});

test('the message about a file that exists, or below a file, names the cause', async () => {
  const file = join(directory, 'there');
  await writeFile(file, '');
  assert.equal(
    await faultOf(() => openSync(file, 'wx')),
    `cannot open ${file}: it exists (EEXIST)`,
  );
  const below = join(file, 'tls.crt');
  assert.equal(
    await faultOf(() => readFile(below)),
    `cannot open ${below}: a part of the path is not a directory (ENOTDIR)`,
  );
});

test('other errors of Node keep their message', async () => {
  assert.match(await faultOf(() => readFile(directory, 'utf8')), /^EISDIR/);
  assert.equal(
    await faultOf(() => {
      throw new Error('as it is');
    }),
    'as it is',
  );
});
