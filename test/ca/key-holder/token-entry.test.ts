// SPDX-License-Identifier: Apache-2.0
/** Keys in tokens, as the file of a key holder names them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { readHolderConfiguration } from '#ca/key-holder/configuration.ts';

const TOKEN = { module: '/lib/p11.so', token: 'ca', pinFile: '/pin', label: 'workload' };
const { label: _label, ...UNNAMED } = TOKEN;
const KEY = { name: 'workload', certificate: '/ca.crt', signerNames: ['example.com/workload'] };

const read = (key: object): unknown =>
  readHolderConfiguration(
    {
      apiVersion: 'key-holder.countersign.dev/v1alpha1',
      kind: 'KeyHolder',
      keys: [{ ...KEY, ...key }],
      sockets: [{ path: '/s', uses: [{ key: 'workload', leaf: { maxDuration: '1h' } }] }],
    },
    'holder.yaml',
  );

test('a key is found by its label, its id, or both', () => {
  read({ pkcs11: TOKEN });
  read({ pkcs11: { ...UNNAMED, id: 'a1b2' } });
  read({ pkcs11: { ...TOKEN, id: 'a1b2' } });
});

const WRONG: readonly (readonly [what: string, key: object, says: RegExp])[] = [
  ['a file and a token', { file: '/ca.key', pkcs11: TOKEN }, /must have either file or pkcs11/],
  ['neither a file nor a token', {}, /must have either file or pkcs11/],
  ['a passphrase of a token', { pkcs11: TOKEN, passphraseFile: '/p' }, /passphraseFile is that of/],
  ['neither a label nor an id', { pkcs11: UNNAMED }, /keys\.0\.pkcs11: must have label or id/],
  ['an id that is no hexadecimal', { pkcs11: { ...UNNAMED, id: 'A1' } }, /lower-case hexadecimal/],
  ['a relative module', { pkcs11: { ...TOKEN, module: 'p11.so' } }, /must be an absolute path/],
  ['the PIN itself', { pkcs11: { ...TOKEN, pin: '1234' } }, /keys\.0\.pkcs11: Unrecognized key/],
];

for (const [what, key, says] of WRONG) {
  test(`a key with ${what} is refused, with its place`, () => {
    assert.throws(
      () => read(key),
      (error) => error instanceof SignerError && error.code === 'USAGE' && says.test(error.message),
    );
  });
}
