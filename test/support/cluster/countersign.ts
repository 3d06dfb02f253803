// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The sources, which need no build. Targets of make name the bundle instead: a component from its
 * sources takes four times the CPU time until its first call.
 */
export const MAIN =
  process.env['COUNTERSIGN_PROGRAM'] ?? join(import.meta.dirname, '../../../src/cli/main.ts');
/** What `make dist/countersign.mjs` makes: it starts in a third of the time. */
export const BUNDLE = join(import.meta.dirname, '../../../dist/countersign.mjs');

/**
 * Runs the command line program to its end.
 *
 * @param onLine - told each line of stderr when it is there
 */
export async function countersign(
  args: readonly string[],
  onLine?: (line: string) => void,
  program = MAIN,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  if (onLine !== undefined) createInterface({ input: child.stderr }).on('line', onLine);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: child.exitCode, stdout, stderr };
}
