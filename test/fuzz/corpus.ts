// SPDX-License-Identifier: Apache-2.0
/** Inputs of earlier runs, one line of base64 each: `corpus/<target>.txt`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What is committed: small, and the same in every run. */
export const KEPT = join(import.meta.dirname, 'corpus');

export function readCorpus(folder: string, name: string): readonly Uint8Array[] {
  const file = join(folder, `${name}.txt`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => Buffer.from(line, 'base64'));
}

export function writeCorpus(folder: string, name: string, inputs: readonly Uint8Array[]): void {
  const lines = inputs.map((input) => Buffer.from(input).toString('base64'));
  const file = join(folder, `${name}.txt`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${[...new Set(lines)].sort().join('\n')}\n`);
}
