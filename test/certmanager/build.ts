// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../go/build.ts';

/** The path of the program that is cert-manager. */
export function buildCertManager(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'certmanager',
      moduleDirectory: join(import.meta.dirname, 'program'),
      onePackageAtATime: true,
      words: 'building cert-manager: minutes the first time',
    },
    log,
  );
}

if (import.meta.main) console.log(await buildCertManager((line) => console.error(line)));
