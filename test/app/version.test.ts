// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireNode } from '#app/version.ts';

const TOO_OLD = ['20.19.2', '23.11.0', '9.0.0', '24.0.0', '24.16.9', 'x'];

test('a Node.js release that is too old is rejected at the start', () => {
  for (const version of TOO_OLD) {
    assert.throws(() => requireNode(version), { code: 'USAGE', message: /24\.17 or later/ });
  }
});

test('a Node.js release with the fix for CVE-2026-48933 is accepted', () => {
  for (const version of ['24.17.0', '24.21.0', '25.1.0', '100.0.0']) requireNode(version);
});

test('the Node.js release of this checkout is accepted', () => {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  const { devDependencies } = JSON.parse(text) as { devDependencies: { node: string } };
  requireNode(devDependencies.node);
  requireNode(process.versions.node);
});
