// SPDX-License-Identifier: Apache-2.0
/**
 * Programs of others that refuse what a CRL lists. Each fetches the CRL from where the leaf says.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { buildGoProgram } from '../../go/build.ts';

/** Files of PEM. */
export interface Judged {
  readonly roots: string;
  readonly leaf: string;
}

/** `openssl verify -crl_check -crl_download`. @returns `OK`, or why not */
export async function byOpenssl({ roots, leaf }: Judged): Promise<string> {
  const args = ['verify', '-x509_strict', '-crl_check', '-crl_download'];
  const anchors = ['-no-CApath', '-no-CAstore', '-CAfile', roots];
  const { failed, said } = await run('openssl', [...args, ...anchors, leaf]);
  return failed ? (/error \d+ at \d+ depth lookup: (.*)/.exec(said)?.[1] ?? said) : 'OK';
}

/** Go's crypto/x509 and net/http (`judge/main.go`). @returns `OK`, or why not */
export async function byGo({ roots, leaf }: Judged): Promise<string> {
  const { failed, said } = await run(await buildRevocationJudge(), [roots, leaf]);
  return failed ? said.trim() : 'OK';
}

function buildRevocationJudge(): Promise<string> {
  return buildGoProgram(
    {
      name: 'revocationjudge',
      moduleDirectory: join(import.meta.dirname, 'judge'),
      words: 'building a client in Go that fetches CRLs: some seconds the first time',
    },
    (line) => {
      console.error(line);
    },
  );
}

function run(
  program: string,
  args: readonly string[],
): Promise<{ readonly failed: boolean; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(program, args, (error, stdout, stderr) => {
      resolve({ failed: error !== null, said: stdout + stderr });
    });
  });
}

if (import.meta.main) console.log(await buildRevocationJudge());
