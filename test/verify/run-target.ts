// SPDX-License-Identifier: Apache-2.0
/** Runs one target of the Makefile, with its output in a file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** Variables of the Makefile that make a suite shorter or another one, and make's own. */
const NOT_PASSED = [
  'ACME',
  'ARGS',
  'KUBERNETES',
  'MAKEFLAGS',
  'MAKELEVEL',
  'MAKEOVERRIDES',
  'MFLAGS',
  'NODE_TEST_CONTEXT',
  'ONLY',
  'PICTURES',
  'SEED',
  'SHARE',
  'SINCE',
];

/** A target, where it runs, and the file for its output. */
export interface Command {
  readonly target: string;
  readonly variables?: readonly string[];
  readonly directory: string;
  readonly log: string;
}

export interface Ended {
  readonly exitCode: number | null;
  readonly output: string;
}

/**
 * Runs `make target` as on a fresh command line: variables of an outer make do not reach it. An
 * abort of the signal ends it.
 */
export async function runTarget(
  { target, variables = [], directory, log }: Command,
  signal: AbortSignal,
): Promise<Ended> {
  const file = openSync(log, 'w');
  try {
    const child = spawn('make', ['--no-print-directory', target, ...variables], {
      cwd: directory,
      stdio: ['ignore', file, file],
      env: environmentOf(process.env),
    });
    const end = (): boolean => child.kill('SIGTERM');
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    await once(child, 'close');
    signal.removeEventListener('abort', end);
    return { exitCode: child.exitCode, output: readFileSync(log, 'utf8') };
  } finally {
    closeSync(file);
  }
}

function environmentOf(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const entries = Object.entries(environment).filter(([name]) => !NOT_PASSED.includes(name));
  return Object.fromEntries(entries);
}
