// SPDX-License-Identifier: Apache-2.0
/** CI runs what the README tells people to run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

test('CI runs make test and make demo, and nothing else', () => {
  const script = readFileSync(join(ROOT, '.ci/run'), 'utf8');
  const commands = [...script.matchAll(/^\s*make .*$/gm)].map(([line]) => line.trim());
  assert.deepEqual(commands, ['make test', 'make demo']);
});

test('CI takes nothing from the commit that it runs on', () => {
  assert.doesNotMatch(readFileSync(join(ROOT, '.ci/run'), 'utf8'), /\bgit\b|SEED|SHARE/);
});
