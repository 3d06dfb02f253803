// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';

/** Every bench writes one: ratios are what may be compared between machines, figures are not. */
export interface Results {
  readonly ratios: object;
  readonly figures: object;
  readonly machine: Machine;
}

const DIRECTORY = join(import.meta.dirname, '../results');

/** Writes `bench/results/<bench>.json`. */
export function writeResults(bench: string, results: Results): void {
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(join(DIRECTORY, `${bench}.json`), `${JSON.stringify(results, null, 2)}\n`);
}
