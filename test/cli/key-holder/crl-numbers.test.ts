// SPDX-License-Identifier: Apache-2.0
/** The numbers of the last CRLs, which a restart of the key holder must not lose. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openCrlNumbers } from '#cli/commands/key-holder/crl-numbers.ts';

let folder = '';
let directory = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crl-numbers-'));
  directory = join(folder, 'numbers');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('a number is on the disk before it is used, and there after a restart', () => {
  const first = openCrlNumbers(directory, ['a', 'b']);
  assert.equal(first.last('a'), undefined);
  first.use('a', 7n);
  assert.equal(readFileSync(join(directory, 'a.crl-number'), 'utf8'), '7\n');
  first.use('a', 1n << 100n);
  first.use('b', 3n);
  const next = openCrlNumbers(directory, ['a', 'b']);
  assert.equal(next.last('a'), 1n << 100n);
  assert.equal(next.last('b'), 3n);
});

test('no other user can write the numbers', () => {
  openCrlNumbers(directory, ['a']).use('a', 1n);
  assert.equal(statSync(directory).mode & 0o077, 0);
  assert.equal(statSync(join(directory, 'a.crl-number')).mode & 0o077, 0);
});

test('a number that cannot be stored is not used', () => {
  const numbers = openCrlNumbers(directory, ['a']);
  numbers.use('a', 1n);
  // A folder is in the place of the file.
  rmSync(join(directory, 'a.crl-number'));
  mkdirSync(join(directory, 'a.crl-number/x'), { recursive: true });
  assert.throws(() => {
    numbers.use('a', 2n);
  });
  assert.equal(numbers.last('a'), 1n);
});

test('a file without a number stops the start, and never counts as 0', () => {
  mkdirSync(directory);
  for (const text of ['', 'x', '-1', '1 2', '9'.repeat(60)]) {
    writeFileSync(join(directory, 'a.crl-number'), text);
    assert.throws(
      () => openCrlNumbers(directory, ['a']),
      /a\.crl-number is not the number of a CRL/,
    );
  }
});

test('without a directory, the numbers end with the process', () => {
  const numbers = openCrlNumbers(undefined, ['a']);
  numbers.use('a', 5n);
  assert.equal(numbers.last('a'), 5n);
});
