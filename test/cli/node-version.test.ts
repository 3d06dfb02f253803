// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LEAST_NODE, requireNode } from '../../src/cli/node-version.ts';

test('a Node that is too old is told so before it fails by itself', () => {
  for (const version of ['20.19.2', '23.11.0', '9.0.0']) {
    assert.throws(() => requireNode(version), { code: 'USAGE', message: /24 or later/ });
  }
  for (const version of ['24.0.0', '25.1.0', '100.0.0']) requireNode(version);
});

test('it is the version that the project itself runs on', () => {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  const { devDependencies } = JSON.parse(text) as { devDependencies: { node: string } };
  assert.equal(devDependencies.node.split('.')[0], String(LEAST_NODE));
});
