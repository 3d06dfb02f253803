// SPDX-License-Identifier: Apache-2.0
/** Owner and mode of the files of a key holder, also as the kubelet mounts a Secret. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  checkCodeFile,
  readLimitsFile,
  readPrivateFile,
} from '#cli/commands/key-holder/private-file.ts';

const isRoot = process.getuid?.() === 0;
const STRANGER = 4_711;

let folder = '';
before(() => (folder = mkdtempSync(join(tmpdir(), 'holder-files-'))));
after(() => {
  rmSync(folder, { recursive: true });
});

function fileOf(mode: number, uid?: number): string {
  const path = join(folder, 'file');
  writeFileSync(path, 'text');
  chmodSync(path, mode);
  if (uid !== undefined) chownSync(path, uid, process.getgid?.() ?? 0);
  return path;
}

test('a key is read if its user and its group alone may read it', async () => {
  for (const mode of [0o400, 0o600, 0o440, 0o640, 0o700])
    assert.equal(await readPrivateFile(fileOf(mode)), 'text', mode.toString(8));
});

test('a key that others may read or write, or its group may write, is refused', async () => {
  for (const mode of [0o604, 0o602, 0o601, 0o644, 0o666])
    await assert.rejects(readPrivateFile(fileOf(mode)), /other users may read or write .*; chmod/);
  for (const mode of [0o620, 0o660])
    await assert.rejects(readPrivateFile(fileOf(mode)), /its group may write .*; chmod g-w/);
});

test('limits that another user may write are refused, and may be read', async () => {
  assert.equal(await readLimitsFile(fileOf(0o644)), 'text');
  for (const mode of [0o664, 0o646])
    await assert.rejects(readLimitsFile(fileOf(mode)), /other users may write .*; chmod go-w/);
});

test('a library that others may write is not loaded, and one that they may read is', async () => {
  await checkCodeFile(fileOf(0o755));
  for (const mode of [0o775, 0o757])
    await assert.rejects(checkCodeFile(fileOf(mode)), /other users may write .*; chmod go-w/);
});

test('a file of another user is refused, who may replace it', { skip: !isRoot }, async () => {
  const says = /belongs to the user 4711, who may replace it; chown it to root or to/;
  await assert.rejects(readPrivateFile(fileOf(0o600, STRANGER)), says);
  await assert.rejects(readLimitsFile(fileOf(0o644, STRANGER)), says);
});

/** A Secret as the kubelet mounts it with fsGroup: links to files of root, mode 0440. */
function mountSecret(mode: number, uid: number): string {
  const mount = mkdtempSync(join(folder, 'mount-'));
  const version = '..2026_11_27_09_00_00.123';
  mkdirSync(join(mount, version));
  const file = join(mount, version, 'ca.key');
  writeFileSync(file, 'text');
  chmodSync(file, mode);
  if (isRoot) chownSync(file, uid, 65_532);
  symlinkSync(version, join(mount, '..data'));
  symlinkSync(join('..data', 'ca.key'), join(mount, 'ca.key'));
  return join(mount, 'ca.key');
}

test('a mounted Secret is read through its links, and its file is judged', async () => {
  assert.equal(await readPrivateFile(mountSecret(0o440, 0)), 'text');
  await assert.rejects(readPrivateFile(mountSecret(0o444, 0)), /other users may read or write/);
  if (isRoot)
    await assert.rejects(readPrivateFile(mountSecret(0o440, STRANGER)), /belongs to the user 4711/);
});
