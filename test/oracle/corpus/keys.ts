// SPDX-License-Identifier: Apache-2.0
import { NULL, bits, int, oid, seq } from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import {
  ECDSA_SHA256,
  ED25519,
  RSA_SHA256,
  type RequestDer,
} from '../../support/pki/request-der.ts';
import { request, signedBy } from './bases.ts';
import { casesOf, type Case, type Table } from './case.ts';
import { rsaKeys } from './rsa-keys.ts';

const EC = '1.2.840.10045.2.1';
const P256 = '1.2.840.10045.3.1.7';
const POINT = 'SEC 1 §2.3.3';

/** Of the point of the P-256 key of the corpus. */
const point = (): Uint8Array => spkiOf(privateKey('P-256')).subarray(-65);
/** Of its y, which compressed and hybrid points say. */
const parity = (): number => (point()[64] ?? 0) & 1;
const ecSpki = (of: Uint8Array, curve = oid(P256)): Uint8Array =>
  seq(seq(oid(EC), curve), bits(of));
const edSpki = (key: Uint8Array): Uint8Array => seq(ED25519, bits(key));
const flipped = (from: Uint8Array, at: number): Uint8Array => {
  const copy = Uint8Array.from(from);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
};

/** Made when asked for: RSA keys take their time. */
const KEYS: Table<() => RequestDer> = {
  'p-256': ['', 'RFC 5480', () => signedBy(privateKey('P-256'), ECDSA_SHA256)],
  'p-384': ['', 'RFC 5480', () => signedBy(privateKey('P-384'), ECDSA_SHA256)],
  'p-521': ['', 'RFC 5480', () => signedBy(privateKey('P-521'), ECDSA_SHA256)],
  ed25519: ['', 'RFC 8410', () => signedBy(privateKey('Ed25519'), ED25519)],
  'rsa-2048': ['', 'RFC 3279', () => signedBy(privateKey('RSA-2048'), RSA_SHA256)],
  'rsa-3072': ['', 'RFC 3279', () => signedBy(privateKey('RSA-3072'), RSA_SHA256)],
  'p-224': [
    'the curve is P-224, which has 112 bits',
    'NIST SP 800-186',
    () => signedBy(privateKey('P-224'), ECDSA_SHA256),
  ],
  secp256k1: [
    'the curve is secp256k1',
    'RFC 5480 §2.1.1.1',
    () => signedBy(privateKey('secp256k1'), ECDSA_SHA256),
  ],
  'rsa-pss-key': [
    'the key is for RSA-PSS alone',
    'RFC 4055 §1.2',
    () => ({ spki: seq(seq(oid('1.2.840.113549.1.1.10')), bits(seq(int(1)))) }),
  ],
  'ec-compressed': [
    'the point is compressed',
    'RFC 5480 §2.2',
    () => ({ spki: ecSpki(Uint8Array.of(2 | parity(), ...point().subarray(1, 33))) }),
  ],
  'ec-hybrid': [
    'the point is hybrid',
    'RFC 5480 §2.2',
    () => ({ spki: ecSpki(Uint8Array.of(6 | parity(), ...point().subarray(1))) }),
  ],
  'ec-infinity': [
    'the point is the point at infinity',
    POINT,
    () => ({ spki: ecSpki(Uint8Array.of(0)) }),
  ],
  'ec-zero': [
    'the point is 0, 0',
    POINT,
    () => ({ spki: ecSpki(Uint8Array.of(4, ...new Uint8Array(64))) }),
  ],
  'ec-off-curve': [
    'the point is not on the curve',
    POINT,
    () => ({ spki: ecSpki(flipped(point(), 64)) }),
  ],
  'ec-x-above-p': [
    'x is not below p',
    POINT,
    () => ({
      spki: ecSpki(Uint8Array.of(4, ...new Uint8Array(32).fill(255), ...point().subarray(33))),
    }),
  ],
  'ec-short': ['the point is cut off', POINT, () => ({ spki: ecSpki(point().subarray(0, 64)) })],
  'ec-long': [
    'the point has an octet more',
    POINT,
    () => ({ spki: ecSpki(Uint8Array.of(...point(), 0)) }),
  ],
  'ec-no-octet': ['there is no point', POINT, () => ({ spki: ecSpki(new Uint8Array()) })],
  'ec-other-curve': [
    'the point is one of another curve',
    POINT,
    () => ({ spki: ecSpki(point(), oid('1.3.132.0.34')) }),
  ],
  'ec-explicit': [
    'the curve has explicit parameters (CVE-2020-0601)',
    'RFC 5480 §2.1.1',
    () => ({ spki: ecSpki(point(), seq(int(1), seq(oid('1.2.840.10045.1.1'), int(3)))) }),
  ],
  'ec-implicit-curve': [
    'the curve is NULL',
    'RFC 5480 §2.1.1',
    () => ({ spki: ecSpki(point(), NULL) }),
  ],
  'ec-no-curve': [
    'there is no curve',
    'RFC 5480 §2.1.1',
    () => ({ spki: seq(seq(oid(EC)), bits(point())) }),
  ],
  'ec-two-curves': [
    'there are two curves',
    'RFC 5480 §2.1.1',
    () => ({ spki: seq(seq(oid(EC), oid(P256), oid(P256)), bits(point())) }),
  ],
  'ec-unused-bits': [
    'the key is no whole number of octets',
    'RFC 5480 §2.2',
    () => ({ spki: seq(seq(oid(EC), oid(P256)), bits([...point().subarray(0, 64), 0x80], 7)) }),
  ],
  'ed25519-31': [
    'the key has 31 octets',
    'RFC 8410 §4',
    () => ({ spki: edSpki(new Uint8Array(31).fill(1)) }),
  ],
  'ed25519-33': [
    'the key has 33 octets',
    'RFC 8410 §4',
    () => ({ spki: edSpki(new Uint8Array(33).fill(1)) }),
  ],
  'ed25519-parameters': [
    'the algorithm has parameters',
    'RFC 8410 §3',
    () => ({ spki: seq(seq(oid('1.3.101.112'), NULL), bits(new Uint8Array(32).fill(1))) }),
  ],
  'ed25519-small-order': [
    'the point has order 1',
    'RFC 8032 §5.1.7',
    () => ({
      spki: edSpki(Uint8Array.of(1, ...new Uint8Array(31))),
      algorithm: ED25519,
      signature: bits(Uint8Array.of(1, ...new Uint8Array(63))),
    }),
  ],
  x25519: [
    'an X25519 key cannot sign',
    'RFC 8410 §3',
    () => ({ spki: spkiOf(privateKey('X25519')) }),
  ],
  dsa: [
    'a DSA key',
    'FIPS 186-5',
    () => ({ spki: seq(seq(oid('1.2.840.10040.4.1'), seq(int(7), int(3), int(2))), bits(int(1))) }),
  ],
  'ml-dsa': [
    'an ML-DSA-44 key, which Kubernetes does not know',
    'RFC 9881',
    () => ({ spki: seq(seq(oid('2.16.840.1.101.3.4.3.17')), bits(new Uint8Array(1312))) }),
  ],
  'ml-dsa-65': [
    'an ML-DSA-65 key, which only CAs have',
    'RFC 9881',
    () => ({ spki: spkiOf(privateKey('ML-DSA-65')) }),
  ],
  unknown: [
    'a key of an unknown kind',
    'RFC 5280 §4.1.2.7',
    () => ({ spki: seq(seq(oid('1.2.3.4')), bits([1])) }),
  ],
};

export function keys(): readonly Case[] {
  return casesOf('request', 'key', { ...KEYS, ...rsaKeys() }, (parts) => request(parts()));
}
