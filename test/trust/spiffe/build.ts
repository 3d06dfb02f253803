// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { buildGoProgram } from '../../go/build.ts';

/** The path of go-spiffe as a program (`judge/main.go`). */
export function buildSpiffeJudge(): Promise<string> {
  return buildGoProgram(
    {
      name: 'spiffejudge',
      moduleDirectory: join(import.meta.dirname, 'judge'),
      words: 'building go-spiffe: a minute the first time',
    },
    (line) => console.error(line),
  );
}

/** What go-spiffe printed, or why it refused. */
export async function spiffeJudge(
  ...args: readonly string[]
): Promise<{ readonly output: string; readonly refused: string }> {
  const program = await buildSpiffeJudge();
  return new Promise((resolve, reject) => {
    execFile(program, args, (error, output, stderr) => {
      if (error === null) resolve({ output, refused: '' });
      else if (error.code === 1) resolve({ output, refused: stderr.trim() });
      else reject(new Error(stderr, { cause: error }));
    });
  });
}

if (import.meta.main) console.log(await buildSpiffeJudge());
