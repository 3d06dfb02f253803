// SPDX-License-Identifier: Apache-2.0
/**
 * CA keys in every form that the openssl command writes. test/ca/custody/key-forms.test.ts signs
 * with them.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { generatePrivateKey, publicKeyOf, readPrivateKey } from '#pki/keys/private-key.ts';
import { AUTHORITY_KEY_TYPES } from '#base/vocabulary.ts';
import { refuses } from '../support/pki/refuses.ts';

const openssl = (input: string, ...args: readonly string[]): string =>
  execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });

/** Form → the command that writes it; the first word of the old commands is the key's kind. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  'openssl pkey': ['pkey'],
  'openssl pkcs8 -topk8 -nocrypt': ['pkcs8', '-topk8', '-nocrypt'],
};
const ENCRYPTED: Readonly<Record<string, readonly string[]>> = {
  'openssl pkcs8 -topk8': ['pkcs8', '-topk8', '-v2', 'aes-256-cbc', '-passout', 'pass:x'],
  'openssl pkcs8 -topk8 -v1': ['pkcs8', '-topk8', '-v1', 'PBE-SHA1-3DES', '-passout', 'pass:x'],
  'openssl pkcs8 -topk8 -scrypt': ['pkcs8', '-topk8', '-scrypt', '-passout', 'pass:x'],
};
const traditional = (command: string): readonly string[] =>
  command === 'rsa' ? ['rsa', '-traditional'] : ['ec'];

/** OpenSSL before 3.5 knows no ML-DSA. */
for (const keyType of AUTHORITY_KEY_TYPES.filter((each) => each !== 'MLDSA65')) {
  describe(keyType, async () => {
    const { pem, spki } = await generatePrivateKey(keyType);
    const command = keyType.startsWith('RSA') ? 'rsa' : keyType.startsWith('EC') ? 'ec' : undefined;
    const old = command === undefined ? {} : { [`openssl ${command}`]: traditional(command) };
    const oldEncrypted =
      command === undefined
        ? {}
        : {
            [`openssl ${command} -aes256`]: [
              ...traditional(command),
              '-aes256',
              '-passout',
              'pass:x',
            ],
          };

    for (const [form, args] of Object.entries({ ...PLAIN, ...old })) {
      test(`is read as ${form} writes it`, () => {
        const key = readPrivateKey(openssl(pem, ...args));
        assert.deepEqual(Buffer.from(publicKeyOf(key)), Buffer.from(spki));
      });
    }

    for (const [form, args] of Object.entries({ ...ENCRYPTED, ...oldEncrypted })) {
      test(`is refused when ${form} encrypts it`, () => {
        const text = openssl(pem, ...args);
        assert.match(text, /ENCRYPTED/);
        refuses(() => readPrivateKey(text), 'KEY_ENCRYPTED', /store it unencrypted as PKCS#8/);
      });
    }

    if (command !== 'ec') return;
    test('is read after its EC parameters, as openssl ecparam -genkey writes it', () => {
      const name = { ECDSAP256: 'prime256v1', ECDSAP384: 'secp384r1' }[keyType as string];
      const text = openssl('', 'ecparam', '-genkey', '-name', name ?? 'secp521r1');
      assert.match(text, /^-----BEGIN EC PARAMETERS-----/);
      const theirs = openssl(text, 'pkey', '-pubout');
      const ours = Buffer.from(publicKeyOf(readPrivateKey(text))).toString('base64');
      assert.equal(theirs.replaceAll(/-----[A-Z ]+-----|\n/g, ''), ours);
    });
  });
}
