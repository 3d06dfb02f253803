// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { differenceOf } from '#diagnose/inspect/difference.ts';
import { readMaterial } from '#diagnose/inspect/read-material.ts';

const SECRETS = { pkcs12Password: () => Promise.resolve('nothing asks for it') };

const bad: [what: string, bytes: string | Uint8Array, says: RegExp][] = [
  ['nothing', '', /is empty/],
  ['a text', 'hello', /neither PEM nor DER/],
  // Windows PowerShell 5 redirects text in UTF-16LE with a byte order mark.
  [
    'a file of PowerShell',
    Buffer.from('\ufeff-----BEGIN CERTIFICATE-----', 'utf16le'),
    /is in UTF-16, .* write it again in ASCII/,
  ],
  ['UTF-16 of the other order', Uint8Array.of(0xfe, 0xff, 0, 0x2d), /is in UTF-16/],
  [
    'a Java keystore',
    Uint8Array.of(0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2),
    /JKS\): convert it by keytool -importkeystore/,
  ],
  [
    'a Secret in a file',
    'apiVersion: v1\nkind: Secret\ndata: {tls.crt: LS0tLS1CRUdJTg==}\n',
    /is a Kubernetes object: name it as secret\/NAME/,
  ],
  ['a Secret in JSON', '{\n  "kind": "Secret",\n  "data": {} }', /is a Kubernetes object/],
  [
    'the data of a Secret',
    Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA').toString('base64'),
    /PEM in base64, .* decode it/,
  ],
  ['a block without an end', '-----BEGIN CERTIFICATE-----\nAAAA\n', /has no end/],
  [
    'a certificate of noise',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    /CERTIFICATE block is damaged/,
  ],
  [
    'a block that nobody knows',
    '-----BEGIN POEM-----\nAAAA\n-----END POEM-----\n',
    /countersign cannot read a block "POEM"/,
  ],
  ['DER of another kind', Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x07), /none of the kinds/],
];

for (const [what, bytes, says] of bad) {
  test(`${what} is an error that says what can be read`, async () => {
    const material = { source: 'x', bytes: Buffer.from(bytes) };
    await assert.rejects(readMaterial(material, SECRETS), (error) => {
      assert.ok(error instanceof SignerError && error.code === 'USAGE');
      assert.match(error.message, says);
      assert.match(error.message, /reads PEM, DER, PKCS#7 and PKCS#12/);
      return true;
    });
  });
}

test('a difference names the field and both values, and where a thing lies is none', () => {
  const key = { type: 'Ed25519', sha256: 'aa' };
  const one = { kind: 'public key', source: 'a.pem', key } as const;
  assert.deepEqual(differenceOf(one, { ...one, source: 'b.pem' }), []);
  assert.deepEqual(differenceOf(one, { ...one, key: { ...key, sha256: 'bb' } }), [
    { field: 'key.sha256', left: 'aa', right: 'bb' },
  ]);
});
