// SPDX-License-Identifier: Apache-2.0
/** What we encode, OpenSSL and Java's keytool open. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import { encodePkcs12 } from '../../src/keystores/encode-pkcs12.ts';
import { decodePem } from '../../src/pki/der/pem.ts';

const PASSWORD = 'co:rr ect,horse';

let directory: string;
let key: { readonly pem: string; readonly pkcs8: Uint8Array };
let certificate: { readonly pem: string; readonly der: Uint8Array };
let file: string;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pkcs12-'));
  const pem = run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-subj', '/CN=jane', '-days', '3', '-keyout', '-'],
  ]);
  const [, keyPem = '', certificatePem = ''] =
    /([^]*?-----END PRIVATE KEY-----\n)([^]*)/.exec(pem) ?? [];
  const pkcs8 = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  key = { pem: keyPem, pkcs8 };
  certificate = { pem: certificatePem, der: decodePem(certificatePem, 'CERTIFICATE') };
  file = join(directory, 'store.p12');
  const { der } = certificate;
  const bytes = await encodePkcs12(
    {
      keys: [{ alias: 'jane', pkcs8, chain: [der] }],
      trusted: [{ alias: 'the anchor', certificate: der }],
    },
    PASSWORD,
  );
  writeFileSync(file, bytes);
});

after(() => {
  rmSync(directory, { recursive: true });
});

test('OpenSSL finds the very key and certificate, and no algorithm but those of today', () => {
  const args = ['pkcs12', '-in', file, '-passin', `pass:${PASSWORD}`, '-nodes', '-info'];
  const { stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.ok(stdout.includes(key.pem));
  assert.ok(stdout.includes(certificate.pem));
  assert.match(stdout, /friendlyName: jane/);
  const algorithms = stderr.split('\n').filter((line) => /MAC: |PBE|PBKDF/.test(line));
  assert.deepEqual(
    algorithms.map((line) => line.replace(/ Iteration \d+/, '').replace(/^MAC: sha256.*/, 'MAC')),
    [
      'MAC',
      'Shrouded Keybag: PBES2, PBKDF2, AES-256-CBC,, PRF hmacWithSHA256',
      'PKCS7 Encrypted data: PBES2, PBKDF2, AES-256-CBC,, PRF hmacWithSHA256',
    ],
  );
});

test('keytool finds the key under its alias, and trusts the anchor', () => {
  const args = ['-list', '-keystore', file, '-storetype', 'PKCS12', '-storepass', PASSWORD];
  const listed = run('keytool', ['-J-Duser.language=en', ...args]);
  assert.match(listed, /^jane, .*PrivateKeyEntry/m);
  assert.match(listed, /^the anchor, .*trustedCertEntry/m);
});

test('who has no password opens nothing', () => {
  const { status } = spawnSync('openssl', ['pkcs12', '-in', file, '-passin', 'pass:wrong1']);
  assert.notEqual(status, 0);
});

function run(program: string, args: readonly string[]): string {
  const { stdout, status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error) throw new Error(`the command ${program} is needed: install its package`);
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}
