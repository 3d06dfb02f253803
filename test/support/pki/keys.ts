// SPDX-License-Identifier: Apache-2.0
import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { rsaKey } from './rsa-key.ts';
import { explicit, implicit, int, octets, oid, seq } from './der.ts';

/** Made once a process. */
const made = new Map<string, KeyObject>();

/** By the key's name: the same key for the same name in every run. */
const MAKERS: Readonly<Record<TestKey, (name: string) => KeyObject>> = {
  'P-224': (name) => ecKey('1.3.132.0.33', 28, name),
  'P-256': (name) => ecKey('1.2.840.10045.3.1.7', 32, name),
  'P-384': (name) => ecKey('1.3.132.0.34', 48, name),
  // One octet less than the order, which begins with 0x01 0xff.
  'P-521': (name) => ecKey('1.3.132.0.35', 65, name),
  secp256k1: (name) => ecKey('1.3.132.0.10', 32, name),
  Ed25519: (name) => pkcs8('1.3.101.112', octets(digest(name, 32))),
  X25519: (name) => pkcs8('1.3.101.110', octets(digest(name, 32))),
  'RSA-1024': (name) => rsaKey(name, 1024),
  'RSA-2048': (name) => rsaKey(name, 2048),
  'RSA-3072': (name) => rsaKey(name, 3072),
  'RSA-4096': (name) => rsaKey(name, 4096),
  'ML-DSA-44': (name) => pkcs8('2.16.840.1.101.3.4.3.17', implicit(0, digest(name, 32))),
  'ML-DSA-65': (name) => pkcs8('2.16.840.1.101.3.4.3.18', implicit(0, digest(name, 32))),
};

function digest(name: string, length: number): Uint8Array {
  return createHash('shake256', { outputLength: length }).update(name).digest();
}

/** SEC1 without the public key, which OpenSSL computes. */
function ecKey(curve: string, length: number, name: string): KeyObject {
  const scalar = digest(name, length);
  // Below every order, of which each begins with 0xff.
  scalar[0] = (scalar[0] ?? 0) & 0x7f;
  const der = seq(int(1), octets(scalar), explicit(0, oid(curve)));
  return createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'sec1' });
}

function pkcs8(algorithm: string, key: Uint8Array): KeyObject {
  const der = seq(int(0), seq(oid(algorithm)), octets(key));
  return createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' });
}

export type TestKey =
  | 'P-224'
  | 'P-256'
  | 'P-384'
  | 'P-521'
  | 'secp256k1'
  | 'Ed25519'
  | 'X25519'
  | 'RSA-1024'
  | 'RSA-2048'
  | 'RSA-3072'
  | 'RSA-4096'
  | 'ML-DSA-44'
  | 'ML-DSA-65';

/** A private key of this kind; `which` tells several of a kind apart. */
export function privateKey(kind: TestKey, which = ''): KeyObject {
  const name = `${kind}/${which}`;
  const key = made.get(name) ?? MAKERS[kind](name);
  made.set(name, key);
  return key;
}

const spkis = new WeakMap<KeyObject, Uint8Array>();

/** DER SubjectPublicKeyInfo of a private key; a copy of the caller's own. */
export function spkiOf(key: KeyObject): Uint8Array {
  const spki =
    spkis.get(key) ?? new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' }));
  spkis.set(key, spki);
  return spki.slice();
}

/** Of node:crypto's sign: null where the algorithm hashes by itself. */
export const digestOf = ({ asymmetricKeyType: type }: KeyObject): string | null =>
  type === 'ed25519' || type === 'ml-dsa-65' ? null : 'sha256';

/**
 * The most frequent length of an ECDSA signature in DER: shorter and longer ones have other
 * padding.
 */
const ECDSA_LENGTHS: Readonly<Record<string, number>> = {
  secp224r1: 63,
  prime256v1: 71,
  secp256k1: 71,
  secp384r1: 103,
  secp521r1: 139,
};

/**
 * A signature whose length is the same in every run, so that what holds it is as long, too. ECDSA
 * signs again until it is: twice on the average.
 */
export function signatureBy(
  key: KeyObject,
  data: Uint8Array,
  hash: string | null = digestOf(key),
): Buffer {
  const length = ECDSA_LENGTHS[key.asymmetricKeyDetails?.namedCurve ?? ''];
  for (;;) {
    const signature = sign(hash, data, key);
    if (length === undefined || signature.length === length) return signature;
  }
}
