// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import { fileBase } from '#cli/commands/request/owner-only-file.ts';
import { refuses } from '../support/pki/refuses.ts';

test('the files of every name are in the directory that was named', () => {
  const names = [
    'jane',
    '../x',
    'a/../../b',
    '/etc/passwd',
    '..a',
    'a\\..\\b',
    '\u2024\u2024',
    'x\0y',
    'é',
  ];
  for (const name of [...names, 'x'.repeat(5000)]) {
    const base = fileBase('/home/u/out', name);
    assert.equal(dirname(`${base}.key`), '/home/u/out', name);
    assert.ok(base.length < 230);
  }
});

test('a name of dots gives no file', () => {
  for (const name of ['', '.', '..', '...']) {
    refuses(() => fileBase('/home/u/out', name), 'USAGE', /--name/);
  }
});

test('no name makes an option or a device of Windows', () => {
  for (const name of ['-rf', '--help', 'CON', 'nul', 'aux.x', 'Com1', 'LPT9.a.b']) {
    const stem = basename(fileBase('/home/u/out', name));
    assert.match(stem, /^_/, name);
  }
  for (const name of ['console', 'communism', 'jane-doe', 'a.con']) {
    assert.equal(basename(fileBase('/home/u/out', name)), name);
  }
});
