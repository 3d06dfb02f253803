// SPDX-License-Identifier: Apache-2.0
/** What we encode, OpenSSL opens; `make test-java` has keytool open it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { PASSWORD, writeStore, type Pkcs12Store } from './pkcs12-store.ts';

let store: Pkcs12Store;
before(async () => {
  store = await writeStore();
});
after(() => {
  store.remove();
});

test('OpenSSL finds the very key and certificate, and no algorithm but those of today', () => {
  const args = ['pkcs12', '-in', store.file, '-passin', `pass:${PASSWORD}`, '-nodes', '-info'];
  const { stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.ok(stdout.includes(store.keyPem));
  assert.ok(stdout.includes(store.certificatePem));
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

test('who has no password opens nothing', () => {
  const { status } = spawnSync('openssl', ['pkcs12', '-in', store.file, '-passin', 'pass:wrong1']);
  assert.notEqual(status, 0);
});
