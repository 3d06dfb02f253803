// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../go/build.ts';

/** The path of the program that is trust-manager. */
export function buildTrustManager(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'trustmanager',
      moduleDirectory: join(import.meta.dirname, 'program'),
      onePackageAtATime: true,
      words: 'building trust-manager: minutes the first time',
    },
    log,
  );
}

if (import.meta.main) console.log(await buildTrustManager((line) => console.error(line)));
