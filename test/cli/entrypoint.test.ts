// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { entrypointFlags, podFlags, POD_OLD_SPACE } from '../support/cluster/entrypoint-flags.ts';

const flags = entrypointFlags();

test('no signal opens a debugger in the image: it could read keys from memory', () => {
  // Node's default for SIGUSR1 is to listen on 127.0.0.1:9229, which all processes in the pod's
  // network reach.
  assert.ok(flags.includes('--disable-sigusr1'));
});

test('the pinned Node accepts the flags of the image', () => {
  const { status, stderr } = spawnSync(process.execPath, [...flags, '-e', '']);
  assert.equal(status, 0, stderr.toString());
});

test('the image has three semi-spaces of 8 MiB on every machine', () => {
  const size = "require('node:v8').getHeapStatistics().heap_size_limit";
  const args = [...podFlags(), '-p', size];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(Number(stdout) / 2 ** 20, POD_OLD_SPACE + 3 * 8);
});
