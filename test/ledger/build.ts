// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { buildGoProgram } from '../go/build.ts';

/** What other people's programs can be asked about a log (`judge/`). */
export type LogJudge = 'note' | 'tlog' | 'fsck' | 'inclusion' | 'consistency';

/** What they can be asked about what left the cluster. */
export type OutsideJudge = 'signed' | 'cosigned' | 'webhook' | 'leaves';

/** The path of the program by which Go's, transparency-dev's and Tessera's code judge a log. */
export function buildLogJudge(): Promise<string> {
  return buildGoProgram(
    {
      name: 'ledgerjudge',
      moduleDirectory: join(import.meta.dirname, 'judge'),
      words: 'building the judges of a log: seconds the first time',
    },
    (line) => console.error(line),
  );
}

/** The path of litewitness, a witness that is not ours (C2SP tlog-witness). */
export function buildWitness(): Promise<string> {
  return buildGoProgram(
    {
      name: 'litewitness',
      moduleDirectory: join(import.meta.dirname, 'witness'),
      command: 'filippo.io/torchwood/cmd/litewitness',
      words: 'building a witness: half a minute the first time',
    },
    (line) => console.error(line),
  );
}

/** Why the judge refuses, empty if it accepts. `files` are those that `judge/main.go` names. */
export async function verdictOf(
  judge: LogJudge | OutsideJudge,
  key: string,
  files: readonly string[],
): Promise<string> {
  const program = await buildLogJudge();
  return new Promise((resolve, reject) => {
    execFile(program, [judge, key, ...files], (error, _stdout, stderr) => {
      if (error === null) resolve('');
      else if (error.code === 1) resolve(stderr.trim().split('\n').at(-1) ?? '');
      else reject(new Error(`${judge}: ${stderr}`, { cause: error }));
    });
  });
}

if (import.meta.main) console.log(await buildLogJudge(), await buildWitness());
