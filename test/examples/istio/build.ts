// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../../go/build.ts';

/** The path of the program that asks as istiod does. */
export function buildIstiod(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'istiod',
      moduleDirectory: join(import.meta.dirname, 'program'),
      onePackageAtATime: true,
      words: 'building the part of Istio that asks for certificates: minutes the first time',
    },
    log,
  );
}

if (import.meta.main) console.log(await buildIstiod((line) => console.error(line)));
