// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import { describe, test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey, publicKeyOf, readPrivateKey } from '#pki/keys/private-key.ts';
import { KEY_TYPES } from '#base/vocabulary.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';

type Form = 'pkcs8' | 'sec1' | 'pkcs1';
const pem = (key: KeyObject, type: Form): string => String(key.export({ type, format: 'pem' }));

describe('a private key is read', () => {
  const rows: readonly (readonly [TestKey, Form])[] = [
    ['P-256', 'pkcs8'],
    ['P-256', 'sec1'],
    ['P-384', 'sec1'],
    ['P-521', 'pkcs8'],
    ['Ed25519', 'pkcs8'],
    ['RSA-2048', 'pkcs8'],
    ['RSA-2048', 'pkcs1'],
  ];
  for (const [kind, form] of rows) {
    test(`${kind} as ${form}`, () => {
      const key = readPrivateKey(pem(privateKey(kind), form));
      assert.deepEqual(Buffer.from(publicKeyOf(key)), Buffer.from(spkiOf(privateKey(kind))));
    });
  }

  test('P-256 after its parameters, as OpenSSL writes it', () => {
    const parameters = encodePem('EC PARAMETERS', Buffer.from('06082a8648ce3d030107', 'hex'));
    assert.ok(readPrivateKey(parameters + pem(privateKey('P-256'), 'sec1')));
  });
});

const encrypted = (type: Form, key: KeyObject): string =>
  String(key.export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }));

describe('a private key is refused', () => {
  const P256 = pem(privateKey('P-256'), 'pkcs8');
  const rows: Readonly<Record<string, readonly [() => string, SignerError['code'], RegExp]>> = {
    'encrypted in PKCS#8': [
      () => encrypted('pkcs8', privateKey('P-256')),
      'KEY_ENCRYPTED',
      /openssl pkcs8/,
    ],
    'encrypted in SEC1': [
      () => encrypted('sec1', privateKey('P-256')),
      'KEY_ENCRYPTED',
      /encrypted/,
    ],
    'encrypted in PKCS#1': [
      () => encrypted('pkcs1', privateKey('RSA-2048')),
      'KEY_ENCRYPTED',
      /encrypted/,
    ],
    'when there is none': [() => '', 'KEY_MALFORMED', /0 PEM blocks/],
    'when there are two': [() => P256 + P256, 'KEY_MALFORMED', /2 PEM blocks/],
    'when it is a certificate': [
      () => encodePem('CERTIFICATE', Uint8Array.of(0x30, 0)),
      'KEY_MALFORMED',
      /CERTIFICATE/,
    ],
    'when it is a public key': [
      () => String(createPublicKey(privateKey('P-256')).export({ type: 'spki', format: 'pem' })),
      'KEY_MALFORMED',
      /PUBLIC KEY/,
    ],
    'with trailing bytes': [
      () =>
        encodePem(
          'PRIVATE KEY',
          Buffer.concat([
            privateKey('P-256').export({ type: 'pkcs8', format: 'der' }),
            Buffer.of(0),
          ]),
        ),
      'DER_MALFORMED',
      /trailing/,
    ],
    'with random bytes': [
      () => encodePem('PRIVATE KEY', Uint8Array.of(0x30, 3, 2, 1, 0)),
      'KEY_MALFORMED',
      /damaged/,
    ],
    'on P-224': [() => pem(privateKey('P-224'), 'pkcs8'), 'KEY_UNSUPPORTED', /secp224r1/],
    'on secp256k1': [() => pem(privateKey('secp256k1'), 'sec1'), 'KEY_UNSUPPORTED', /secp256k1/],
    'for X25519': [() => pem(privateKey('X25519'), 'pkcs8'), 'KEY_UNSUPPORTED', /x25519/],
    'for RSA-PSS only': [
      () => pem(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey, 'pkcs8'),
      'KEY_UNSUPPORTED',
      /rsa-pss/,
    ],
  };
  for (const [name, [text, code, message]] of Object.entries(rows)) {
    test(name, () => refuses(() => readPrivateKey(text()), code, message));
  }

  test('without any part of it in the error', () => {
    const der = privateKey('P-256').export({ type: 'pkcs8', format: 'der' });
    const broken = Buffer.from(der);
    broken[30] = (broken[30] ?? 0) ^ 0xff;
    const texts = [broken, der.subarray(0, -1)].map((each) => encodePem('PRIVATE KEY', each));
    for (const text of [...texts, P256.replace('\n', '\n!')]) {
      assert.throws(
        () => readPrivateKey(text),
        (error: unknown) => {
          assert.ok(error instanceof SignerError);
          assert.equal(error.cause, undefined);
          for (const line of text.split('\n').slice(1, -2))
            assert.ok(!error.message.includes(line));
          return true;
        },
      );
    }
  });
});

describe('a private key is generated', () => {
  for (const keyType of KEY_TYPES.filter((type) => type !== 'RSA4096')) {
    test(keyType, async () => {
      const { key, pem: text, spki } = await generatePrivateKey(keyType);
      assert.equal(decodePublicKey(spki).keyType, keyType);
      assert.deepEqual(Buffer.from(publicKeyOf(readPrivateKey(text))), Buffer.from(spki));
      assert.deepEqual(Buffer.from(publicKeyOf(key)), Buffer.from(spki));
    });
  }

  test('a new one at each call', async () => {
    const [one, two] = await Promise.all([
      generatePrivateKey('ED25519'),
      generatePrivateKey('ED25519'),
    ]);
    assert.notDeepEqual(one.spki, two.spki);
    assert.equal(verify(null, Buffer.of(1), createPublicKey(one.key), Buffer.alloc(64)), false);
  });

  test('but an unknown key type is refused', async () => {
    await assert.rejects(generatePrivateKey('P256'), { code: 'KEY_UNSUPPORTED' });
  });
});
