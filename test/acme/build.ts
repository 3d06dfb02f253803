// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../go/build.ts';

/** The path of the program that is Pebble with its challenge server. */
export function buildPebble(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'pebble',
      moduleDirectory: join(import.meta.dirname, 'pebble'),
      onePackageAtATime: true,
      words: 'building Pebble: some seconds, the first time',
    },
    log,
  );
}

if (import.meta.main) console.log(await buildPebble((line) => console.error(line)));
