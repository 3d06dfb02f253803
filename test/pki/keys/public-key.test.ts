// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash, createPublicKey } from 'node:crypto';
import { describe, test } from 'node:test';
import { CURVES } from '#pki/keys/curves.ts';
import { decodePublicKey, keyIdentifier } from '#pki/keys/public-key.ts';
import { NULL, bits, int, oid, seq, utf8 } from '../../support/pki/der.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { rsaSpki } from '../../support/pki/rsa-spki.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';

const EC = '1.2.840.10045.2.1';
const P256 = '1.2.840.10045.3.1.7';
const ED25519 = seq(oid('1.3.101.112'));

describe('a public key is identified by its algorithm and its size', () => {
  const rows: readonly (readonly [TestKey, string, number, string | undefined])[] = [
    ['P-256', 'ECDSA', 256, 'ECDSAP256'],
    ['P-384', 'ECDSA', 384, 'ECDSAP384'],
    ['P-521', 'ECDSA', 521, 'ECDSAP521'],
    ['Ed25519', 'ED25519', 256, 'ED25519'],
    ['RSA-2048', 'RSA', 2048, 'RSA2048'],
    ['RSA-3072', 'RSA', 3072, 'RSA3072'],
  ];
  for (const [kind, algorithm, size, keyType] of rows) {
    test(kind, () => {
      const spki = spkiOf(privateKey(kind));
      const key = decodePublicKey(spki);
      assert.equal(key.algorithm, algorithm);
      assert.equal(key.bits, size);
      assert.equal(key.keyType, keyType);
      assert.deepEqual(Buffer.from(key.spki), Buffer.from(spki));
      checkKey(key);
    });
  }

  test('RSA sizes count bits, not bytes: 3065 bits are not RSA-3072', () => {
    const key = decodePublicKey(rsaSpki((1n << 3064n) + 1n));
    assert.equal(key.bits, 3065);
    assert.equal(key.keyType, undefined);
  });
});

const point = (kind: 'P-256' | 'P-384'): Uint8Array => spkiOf(privateKey(kind)).subarray(-65);
const ecSpki = (curve: Uint8Array, content: Uint8Array): Uint8Array =>
  seq(seq(oid(EC), curve), bits(content));
const bent = (octets: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(octets);
  copy[40] = (copy[40] ?? 0) ^ 1;
  return copy;
};

describe('a public key in another form is refused', () => {
  const prime = CURVES.get(P256)?.p ?? 0n;
  const coordinate = (value: bigint): number[] => [
    ...Buffer.from(value.toString(16).padStart(64, '0'), 'hex'),
  ];
  const rows: Readonly<
    Record<
      string,
      readonly [
        Uint8Array,
        'KEY_UNSUPPORTED' | 'KEY_MALFORMED' | 'DER_MALFORMED' | 'DER_LIMIT',
        RegExp,
      ]
    >
  > = {
    'P-224': [spkiOf(privateKey('P-224')), 'KEY_UNSUPPORTED', /1\.3\.132\.0\.33/],
    secp256k1: [spkiOf(privateKey('secp256k1')), 'KEY_UNSUPPORTED', /1\.3\.132\.0\.10/],
    X25519: [spkiOf(privateKey('X25519')), 'KEY_UNSUPPORTED', /1\.3\.101\.110/],
    'explicit EC parameters': [
      ecSpki(seq(int(1), seq(oid('1.2.840.10045.1.1'), int(7))), point('P-256')),
      'KEY_UNSUPPORTED',
      /explicit/,
    ],
    'EC parameters left out': [seq(seq(oid(EC)), bits(point('P-256'))), 'KEY_UNSUPPORTED', /./],
    'implicit EC parameters': [ecSpki(NULL, point('P-256')), 'KEY_UNSUPPORTED', /./],
    'a point that is not on the curve': [
      ecSpki(oid(P256), bent(point('P-256'))),
      'KEY_MALFORMED',
      /point/,
    ],
    'a compressed point': [
      ecSpki(oid(P256), Uint8Array.from([2, ...point('P-256').subarray(1, 33)])),
      'KEY_MALFORMED',
      /uncompressed/,
    ],
    'a hybrid point': [
      ecSpki(oid(P256), Uint8Array.from([6, ...point('P-256').subarray(1)])),
      'KEY_MALFORMED',
      /uncompressed/,
    ],
    'a coordinate to which p was added': [beyondP(), 'KEY_MALFORMED', /point/],
    'the point at infinity': [ecSpki(oid(P256), Uint8Array.of(0)), 'KEY_MALFORMED', /point/],
    'the point (0, 0)': [
      ecSpki(oid(P256), Uint8Array.from([4, ...coordinate(0n), ...coordinate(0n)])),
      'KEY_MALFORMED',
      /point/,
    ],
    'a coordinate not below p': [
      ecSpki(oid(P256), Uint8Array.from([4, ...coordinate(prime), ...coordinate(1n)])),
      'KEY_MALFORMED',
      /point/,
    ],
    'a point of another curve': [
      ecSpki(oid('1.3.132.0.34'), point('P-256')),
      'KEY_MALFORMED',
      /point/,
    ],
    'something after the curve': [
      seq(seq(oid(EC), oid(P256), NULL), bits(point('P-256'))),
      'DER_MALFORMED',
      /trailing/,
    ],
    'Ed25519 of 31 bytes': [seq(ED25519, bits(new Uint8Array(31))), 'KEY_MALFORMED', /32 bytes/],
    'Ed25519 with parameters': [
      seq(seq(oid('1.3.101.112'), NULL), bits(new Uint8Array(32))),
      'DER_MALFORMED',
      /trailing/,
    ],
    'RSA without parameters': [
      seq(seq(oid('1.2.840.113549.1.1.1')), bits(seq(int(0x7f), int(3)))),
      'DER_MALFORMED',
      /missing/,
    ],
    'RSA with other parameters': [
      seq(seq(oid('1.2.840.113549.1.1.1'), utf8('')), bits(seq(int(0x7f), int(3)))),
      'DER_MALFORMED',
      /./,
    ],
    'an RSA-PSS key': [
      seq(seq(oid('1.2.840.113549.1.1.10')), bits(seq(int(0x7f), int(3)))),
      'KEY_UNSUPPORTED',
      /1\.2\.840\.113549\.1\.1\.10/,
    ],
    'a negative modulus': [rsaKey(int(0x80, 1), int(3)), 'KEY_MALFORMED', /modulus/],
    'a modulus of zero': [rsaKey(int(0), int(3)), 'KEY_MALFORMED', /modulus/],
    'a modulus that is not minimal': [rsaKey(int(0, 1), int(3)), 'DER_MALFORMED', /minimal/],
    'an exponent of zero': [rsaKey(int(0x7f), int(0)), 'KEY_MALFORMED', /exponent/],
    'a negative exponent': [rsaKey(int(0x7f), int(0xff)), 'KEY_MALFORMED', /exponent/],
    'something after the exponent': [
      rsaKey(int(0x7f), int(3), int(1)),
      'DER_MALFORMED',
      /trailing/,
    ],
    'an exponent of 32 bits': [
      rsaSpki((1n << 2047n) + 1n, 2n ** 31n + 1n),
      'KEY_UNSUPPORTED',
      /exponent has more than 31 bits/,
    ],
    'an exponent of 2,048 bits': [rsaSpki(1n << 2047n, 1n << 2047n), 'KEY_UNSUPPORTED', /exponent/],
    'a modulus of 100,000 bits': [rsaSpki(1n << 100_000n), 'DER_LIMIT', /./],
  };
  for (const [name, [spki, code, message]] of Object.entries(rows)) {
    test(name, () => refuses(() => decodePublicKey(spki), code, message));
  }
});

function rsaKey(...numbers: readonly Uint8Array[]): Uint8Array {
  return seq(seq(oid('1.2.840.113549.1.1.1'), NULL), bits(seq(...numbers)));
}

test('the curve check agrees with node:crypto', () => {
  for (const kind of ['P-256', 'P-384', 'P-521'] as const) {
    for (let which = 0; which < 5; which++) {
      const spki = spkiOf(privateKey(kind, String(which)));
      assert.equal(decodePublicKey(spki).bits, Number(kind.slice(2)));
      const wrong = Uint8Array.from(spki);
      wrong[wrong.length - 1] = (wrong.at(-1) ?? 0) ^ 1;
      assert.throws(() =>
        createPublicKey({ key: Buffer.from(wrong), format: 'der', type: 'spki' }),
      );
      refuses(() => decodePublicKey(wrong), 'KEY_MALFORMED', /point/);
    }
  }
});

test('a key identifier is 20 bytes of a hash of the key bits', () => {
  const spki = spkiOf(privateKey('P-256'));
  const sha1 = createHash('sha1').update(spki.subarray(-65)).digest();
  assert.deepEqual(Buffer.from(keyIdentifier(spki)), sha1);
});

/** A point of P-521, whose 66 octets have room for x + p: the equation holds for it, too. */
function beyondP(): Uint8Array {
  const octets = spkiOf(privateKey('P-521')).subarray(-133);
  const x = BigInt(`0x${Buffer.from(octets.subarray(1, 67)).toString('hex')}`);
  const moved = (x + 2n ** 521n - 1n).toString(16).padStart(132, '0');
  const P521 = oid('1.3.132.0.35');
  return ecSpki(
    P521,
    Buffer.concat([octets.subarray(0, 1), Buffer.from(moved, 'hex'), octets.subarray(67)]),
  );
}
