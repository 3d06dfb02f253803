// SPDX-License-Identifier: Apache-2.0
/**
 * Tab and Enter in real shells, where a requester has chosen the only name: no shell runs anything
 * of it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { startShell, type InteractiveShell, type Shell } from './shells/interactive.ts';

const PROGRAM = join(import.meta.dirname, 'shells/offering.ts');
const PATIENCE_MS = 120_000;

/** Names that the API server accepts for a CertificateSigningRequest: anything but `/` and `%`. */
const HOSTILE = [
  '$(touch pwned)',
  '`touch pwned`',
  ';touch pwned;',
  '\ntouch pwned\n',
  '(touch pwned)',
  "'; touch pwned; '",
  '"; touch pwned; "',
  "\\'; touch pwned; '",
  '{a,$(touch pwned)}',
];

/** bash is everywhere; the others where they are installed (`make test-shells`). */
const SHELLS = (['bash', 'zsh', 'fish'] as const).filter(
  (shell) => spawnSync(shell, ['-c', 'true']).error === undefined,
);

let directory: string;
let nameFile: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'hostile-'));
  nameFile = join(directory, 'name');
  mkdirSync(join(directory, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
  writeFileSync(join(directory, 'bin/countersign'), program, { mode: 0o755 });
});
after(() => {
  rmSync(directory, { recursive: true });
});

/**
 * Types a command up to its argument, Tab, and Enter. @returns the argument that the program ran
 * with
 */
async function argumentOf(shell: InteractiveShell, name: string): Promise<string> {
  writeFileSync(nameFile, name);
  const from = shell.seen().length;
  // A word behind it tells that the program ran with this line, and not with one before.
  shell.press('countersign approve csr/\t');
  shell.press(' end\r');
  const ran = await until(`the program runs: ${shell.seen().slice(from)}`, PATIENCE_MS, () => {
    const [, argument] = /RUNS<approve\|(.*?)\|?end>/.exec(shell.seen().slice(from)) ?? [];
    return argument === undefined ? undefined : { argument };
  });
  return ran.argument;
}

async function tabAndEnter(kind: Shell): Promise<void> {
  const home = join(directory, kind);
  const path = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  const shell = await startShell(kind, home, { ...process.env, PATH: path, NAME: nameFile });
  try {
    assert.match(await argumentOf(shell, 'ok-1'), /^csr\/ok-1/);
    for (const name of HOSTILE) {
      assert.equal(await argumentOf(shell, name), 'csr/', `${kind} offered ${name}`);
      assert.ok(!existsSync(join(home, 'pwned')), `${kind} ran ${name}`);
    }
  } finally {
    await shell.stop();
  }
}

for (const shell of SHELLS)
  test(`Tab and Enter in ${shell} run no command of a name`, () => tabAndEnter(shell));
