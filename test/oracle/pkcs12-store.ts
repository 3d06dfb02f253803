// SPDX-License-Identifier: Apache-2.0
/** A PKCS#12 file of ours, for other people's programs to open. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodePkcs12 } from '#pki/keystores/encode-pkcs12.ts';
import { decodePem } from '#pki/der/pem.ts';

export const PASSWORD = 'co:rr ect,horse';

/**
 * The file, and what is in it: a key under the alias `jane`, and a trusted certificate as
 * `the anchor`.
 */
export interface Pkcs12Store {
  readonly file: string;
  readonly keyPem: string;
  readonly certificatePem: string;
  remove(): void;
}

export async function writeStore(): Promise<Pkcs12Store> {
  const directory = mkdtempSync(join(tmpdir(), 'pkcs12-'));
  const pem = run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=jane',
    '-days',
    '3',
    '-keyout',
    '-',
  ]);
  const [, keyPem = '', certificatePem = ''] =
    /([^]*?-----END PRIVATE KEY-----\n)([^]*)/.exec(pem) ?? [];
  const pkcs8 = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const certificate = decodePem(certificatePem, 'CERTIFICATE');
  const file = join(directory, 'store.p12');
  const contents = {
    keys: [{ alias: 'jane', pkcs8, chain: [certificate] }],
    trusted: [{ alias: 'the anchor', certificate }],
  };
  writeFileSync(file, await encodePkcs12(contents, PASSWORD));
  return {
    file,
    keyPem,
    certificatePem,
    remove: () => {
      rmSync(directory, { recursive: true });
    },
  };
}

/** What a program prints. @throws AssertionError if it fails */
export function run(program: string, args: readonly string[]): string {
  const { stdout, status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error) throw new Error(`the command ${program} is needed: install its package`);
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}
