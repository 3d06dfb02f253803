// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../../go/build.ts';

/** The path of the program that judges configurations of Envoy. */
export function buildEnvoyJudge(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'envoyjudge',
      moduleDirectory: join(import.meta.dirname, 'program'),
      onePackageAtATime: true,
      words: 'building the judge of Envoy’s configurations: a minute the first time',
    },
    log,
  );
}

if (import.meta.main) console.log(await buildEnvoyJudge((line) => console.error(line)));
