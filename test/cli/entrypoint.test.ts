// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
const [, entrypoint = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile) ?? [];
const flags = (JSON.parse(entrypoint) as readonly string[]).filter((each) => each.startsWith('--'));

test('no signal opens a debugger in the image, which would read keys out of the memory', () => {
  // Node's default for SIGUSR1 is to listen on 127.0.0.1:9229, for whoever shares the pod's network.
  assert.ok(flags.includes('--disable-sigusr1'));
});

test('our Node knows the flags that the image starts it with', () => {
  const { status, stderr } = spawnSync(process.execPath, [...flags, '-e', '']);
  assert.equal(status, 0, stderr.toString());
});
