// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Contender } from '../cluster/contender.ts';

/** The environment variable with the file for the longest pause. */
export const PAUSES_VARIABLE = 'COUNTERSIGN_BENCH_PAUSES';
/** The interval of the timer that measures. */
export const RESOLUTION_MS = 1;

/**
 * Returns the contender with a module that measures the pauses of its event loop between two
 * SIGUSR2.
 *
 * @param file - gets the longest pause
 */
export function withPauses(contender: Contender, file: string): Contender {
  const [node, ...rest] = contender.command;
  const module = pathToFileURL(join(import.meta.dirname, 'record-pauses.ts')).href;
  const variable = `${PAUSES_VARIABLE}=${file}`;
  return { ...contender, command: ['/usr/bin/env', variable, node, '--import', module, ...rest] };
}

/** Returns the longest pause in milliseconds. @throws Error if none was measured */
export function readLongestPause(file: string): number {
  const milliseconds = Number(readFileSync(file, 'utf8'));
  if (milliseconds > 0) return milliseconds;
  throw new Error(`${file} has no pause`);
}
