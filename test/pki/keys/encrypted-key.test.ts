// SPDX-License-Identifier: Apache-2.0
/** Encrypted PKCS#8: OpenSSL and we read each other's files, and weak ones are refused. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, type KeyObject } from 'node:crypto';
import { describe, test } from 'node:test';
import { AUTHORITY_KEY_TYPES } from '#base/vocabulary.ts';
import {
  decryptPrivateKey,
  encryptPrivateKey,
  requirePassphrase,
} from '#pki/keys/encrypted-key.ts';
import { generatePrivateKey, publicKeyOf } from '#pki/keys/private-key.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';

const PASSPHRASE = 'correct horse battery';
const encrypt = (key: KeyObject): Promise<string> =>
  encryptPrivateKey(key, PASSPHRASE, (size) => randomBytes(size));

/** Runs openssl with a PEM on stdin and the passphrase in its environment. */
function openssl(args: readonly string[], input: string): { out: string; status: number | null } {
  const env = { ...process.env, PASSPHRASE };
  const { stdout, status } = spawnSync('openssl', args, { input, env, encoding: 'utf8' });
  return { out: stdout, status };
}

const IN = ['-passin', 'env:PASSPHRASE'];
const OUT = ['-passout', 'env:PASSPHRASE'];

/** OpenSSL 3.0 knows no ML-DSA. */
const KNOWN = AUTHORITY_KEY_TYPES.filter((each) => each !== 'MLDSA65');

describe('an encrypted key', () => {
  for (const keyType of AUTHORITY_KEY_TYPES) {
    test(`${keyType} comes back, by its own reader`, async () => {
      const { key, spki } = await generatePrivateKey(keyType);
      const opened = decryptPrivateKey(await encrypt(key), PASSPHRASE);
      assert.deepEqual(Buffer.from(publicKeyOf(opened)), Buffer.from(spki));
    });
  }

  for (const keyType of KNOWN) {
    test(`${keyType} is opened by openssl pkcs8`, async () => {
      const { key, pem } = await generatePrivateKey(keyType);
      const { out, status } = openssl(['pkcs8', ...IN], await encrypt(key));
      assert.equal(status, 0);
      assert.equal(out, pem);
    });
  }

  test('shows openssl a million rounds of HMAC-SHA-256 and AES-256-CBC', async () => {
    const { out } = openssl(['asn1parse'], await encrypt(privateKey('P-256')));
    for (const word of ['PBES2', 'PBKDF2', 'hmacWithSHA256', 'aes-256-cbc', ':0F4240'])
      assert.ok(out.includes(word), `${word} in ${out}`);
  });

  test('has another salt each time', async () => {
    const [a, b] = [await encrypt(privateKey('P-256')), await encrypt(privateKey('P-256'))];
    assert.notEqual(a, b);
  });
});

const plain = String(privateKey('P-256').export({ type: 'pkcs8', format: 'pem' }));
const byOpenssl = (...more: readonly string[]): string =>
  openssl(['pkcs8', '-topk8', ...OUT, ...more], plain).out;

describe('a key that OpenSSL encrypted', () => {
  for (const [cipher, hash] of [
    ['aes-256-cbc', 'hmacWithSHA256'],
    ['aes-192-cbc', 'hmacWithSHA384'],
    ['aes-128-cbc', 'hmacWithSHA512'],
  ] as const) {
    test(`is read with ${cipher} and ${hash}`, () => {
      const pem = byOpenssl('-v2', cipher, '-v2prf', hash, '-iter', '100000');
      assert.ok(decryptPrivateKey(pem, PASSPHRASE));
    });
  }

  const rows: readonly (readonly [string, () => string, Parameters<typeof refuses>[1], RegExp])[] =
    [
      ['by its default of 2,048 rounds', () => byOpenssl(), 'KEY_WEAK', /2048 rounds/],
      [
        'by HMAC-SHA-1',
        () => byOpenssl('-v2prf', 'hmacWithSHA1', '-iter', '100000'),
        'KEY_UNSUPPORTED',
        /HMAC-SHA-1|1\.2\.840\.113549\.2\.7/,
      ],
      ['by scrypt', () => byOpenssl('-scrypt'), 'KEY_UNSUPPORTED', /1\.3\.6\.1\.4\.1\.11591/],
      [
        'by Camellia',
        () => byOpenssl('-v2', 'camellia-256-cbc', '-iter', '100000'),
        'KEY_UNSUPPORTED',
        /the cipher/,
      ],
      ['not at all', () => plain, 'KEY_WEAK', /is not encrypted; .*openssl pkcs8 -topk8/],
    ];
  for (const [name, pem, code, message] of rows) {
    test(`is refused ${name}`, () => {
      refuses(() => decryptPrivateKey(pem(), PASSPHRASE), code, message);
    });
  }
});

test('a wrong passphrase and a changed byte are refused without a part of either', async () => {
  const pem = await encrypt(privateKey('P-256'));
  const wrong = 'a wrong passphrase';
  refuses(() => decryptPrivateKey(pem, wrong), 'KEY_ENCRYPTED', /^(?!.*a wrong pass).*is wrong/);
  const at = pem.length - 60;
  const bent = `${pem.slice(0, at)}${pem[at] === 'A' ? 'B' : 'A'}${pem.slice(at + 1)}`;
  refuses(() => decryptPrivateKey(bent, PASSPHRASE), 'KEY_ENCRYPTED', /damaged/);
});

for (const [name, passphrase] of [
  ['eleven characters', 'eleven char'],
  ['a character beyond ASCII', 'correct hörse battery'],
  ['a line end', 'correct horse\nbattery'],
  ['1,025 characters', 'a'.repeat(1025)],
] as const) {
  test(`a new passphrase with ${name} is refused, and not repeated`, () => {
    refuses(() => requirePassphrase(passphrase), 'KEY_WEAK', /^(?!.*(?:eleven|hors|aaa)).*ASCII/);
  });
}
