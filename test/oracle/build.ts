// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../go/build.ts';

/** The path of the oracle's program. */
export function buildOracle(): Promise<string> {
  return buildGoProgram(
    {
      name: 'oracle',
      moduleDirectory: join(import.meta.dirname, 'program'),
      words: 'building the oracle: seconds the first time',
    },
    (line) => console.error(line),
  );
}

if (import.meta.main) console.log(await buildOracle());
