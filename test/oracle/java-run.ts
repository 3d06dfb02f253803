// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-java`: what we encode, Java's keytool opens. It takes a JDK, which nothing else here
 * needs.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PASSWORD, run, writeStore, type Pkcs12Store } from './pkcs12-store.ts';

let store: Pkcs12Store;
before(async () => {
  store = await writeStore();
});
after(() => {
  store.remove();
});

test('keytool finds the key under its alias, and trusts the anchor', () => {
  const args = ['-list', '-keystore', store.file, '-storetype', 'PKCS12', '-storepass', PASSWORD];
  const listed = run('keytool', ['-J-Duser.language=en', ...args]);
  assert.match(listed, /^jane, .*PrivateKeyEntry/m);
  assert.match(listed, /^the anchor, .*trustedCertEntry/m);
});
