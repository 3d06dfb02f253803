// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../go/build.ts';

/** The path of the program that is a step-ca server. */
export function buildStepCa(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'stepca',
      moduleDirectory: join(import.meta.dirname, 'program'),
      onePackageAtATime: true,
      words: 'building step-ca: two minutes the first time',
    },
    log,
  );
}

if (import.meta.main) console.log(await buildStepCa((line) => console.error(line)));
