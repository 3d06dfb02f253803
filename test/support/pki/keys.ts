// SPDX-License-Identifier: Apache-2.0
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** Made once a process: RSA keys take their time. */
const made = new Map<string, KeyObject>();

const MAKERS: Readonly<Record<string, () => KeyObject>> = {
  'P-224': () => generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).privateKey,
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  'P-521': () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey,
  secp256k1: () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
  Ed25519: () => generateKeyPairSync('ed25519').privateKey,
  X25519: () => generateKeyPairSync('x25519').privateKey,
  'RSA-1024': () => generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey,
  'RSA-2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  'RSA-3072': () => generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey,
  'RSA-4096': () => generateKeyPairSync('rsa', { modulusLength: 4096 }).privateKey,
  'ML-DSA-44': () => generateKeyPairSync('ml-dsa-44').privateKey,
  'ML-DSA-65': () => generateKeyPairSync('ml-dsa-65').privateKey,
};

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
  const key = made.get(name) ?? MAKERS[kind]?.();
  if (key === undefined) throw new Error(`no key of kind ${kind}`);
  made.set(name, key);
  return key;
}

/** DER SubjectPublicKeyInfo of a private key. */
export function spkiOf(key: KeyObject): Uint8Array {
  return new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' }));
}
