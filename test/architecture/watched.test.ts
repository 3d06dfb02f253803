// SPDX-License-Identifier: Apache-2.0
/** Nothing that `make test` or `make demo` starts is alive at its end. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isRunning } from '../cluster/pids.ts';

const ROOT = join(import.meta.dirname, '../..');
const WATCHED = join(ROOT, 'test/support/processes/watched.ts');

/** Runs a shell script watched. Nothing that is left gets time to end. */
function watched(script: string): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [WATCHED, 'sh', '-c', script], {
    encoding: 'utf8',
    env: { ...process.env, COUNTERSIGN_WATCHED_ENDING_MS: '0' },
  });
  return { code: status, output: `${stdout}${stderr}` };
}

/**
 * Leaves a process behind, prints its id, and ends with this code. The shell first awaits that its
 * child runs `sleep`: until then the kernel shows the shell's own command line for the child.
 */
const leaving = (code: number): string => `
  sleep 3600 >/dev/null 2>&1 &
  until [ "$(tr '\\0' ' ' <"/proc/$!/cmdline")" = 'sleep 3600 ' ]; do :; done
  echo "started $!"
  exit ${code}`;

for (const [code, seen] of [
  [0, 1],
  [3, 3],
] as const) {
  test(`a process left behind by a command that exits with ${code} is named and ended`, () => {
    const run = watched(leaving(code));
    assert.equal(run.code, seen, run.output);
    const pid = Number(/^started (\d+)$/m.exec(run.output)?.[1]);
    assert.match(run.output, new RegExp(`left running, ended now: ${pid} sleep 3600`));
    assert.equal(isRunning(pid), false);
  });
}

test('a command that leaves nothing behind keeps its exit code', () => {
  assert.deepEqual(watched('exit 0'), { code: 0, output: '' });
  assert.deepEqual(watched('exit 5'), { code: 5, output: '' });
});

test('each part of make test that starts processes, and make demo, run watched', () => {
  const makefile = readFileSync(join(ROOT, 'Makefile'), 'utf8');
  for (const target of ['unit', 'oracle', 'package', 'integration', 'demo']) {
    const [, recipe = ''] = new RegExp(`^${target}:.*\\n((?:\\t.*\\n)+)`, 'm').exec(makefile) ?? [];
    assert.match(recipe, /\$\(WATCHED\)/, target);
  }
});
