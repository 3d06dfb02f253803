// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../go/build.ts';

/** The path of the program that is trust-manager. */
export function buildTrustManager(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'trustmanager',
      moduleDirectory: join(import.meta.dirname, 'program'),
      // One package at a time: its build beside others' work is not to take the machine.
      flags: ['-p=1', '-trimpath', '-ldflags=-s -w'],
      words: 'building trust-manager: minutes the first time',
    },
    log,
  );
}

if (import.meta.main) console.log(await buildTrustManager((line) => console.error(line)));
