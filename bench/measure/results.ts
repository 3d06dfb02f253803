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

/** Writes `<directory>/<bench>.json`. */
export function writeResults(directory: string, bench: string, results: Results): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${bench}.json`), `${JSON.stringify(results, null, 2)}\n`);
}
