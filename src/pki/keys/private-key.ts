// SPDX-License-Identifier: Apache-2.0
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { DerReader } from '../der/der-reader.ts';
import { encodePem, readPemBlocks } from '../der/pem.ts';
import { inputError } from '../der/input-error.ts';
import { signatureAlgorithm } from './signature-algorithm.ts';

/** PEM labels of RFC 5958, 5915 and 8017, and what node:crypto calls their contents. */
const FORMS: ReadonlyMap<string, 'pkcs8' | 'sec1' | 'pkcs1'> = new Map([
  ['PRIVATE KEY', 'pkcs8'],
  ['EC PRIVATE KEY', 'sec1'],
  ['RSA PRIVATE KEY', 'pkcs1'],
]);

const HELP = 'store it unencrypted as PKCS#8 ("openssl pkcs8 -topk8 -nocrypt")';

/**
 * Reads the private key of a PEM text: PKCS#8, SEC1 (after `EC PARAMETERS`, as OpenSSL writes it) or
 * PKCS#1. No message or cause of an error holds any part of it.
 *
 * @throws SignerError KEY_ENCRYPTED, KEY_MALFORMED, KEY_UNSUPPORTED or PEM_MALFORMED
 */
export function readPrivateKey(pem: string): KeyObject {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: *4, *ENCRYPTED/m.test(pem)) {
    throw inputError('KEY_ENCRYPTED', `the private key is encrypted; ${HELP}`);
  }
  const blocks = readPemBlocks(pem).filter(({ label }) => label !== 'EC PARAMETERS');
  const [block] = blocks;
  if (block === undefined || blocks.length > 1) {
    throw inputError(
      'KEY_MALFORMED',
      `${blocks.length} PEM blocks where one private key is wanted`,
    );
  }
  const type = FORMS.get(block.label);
  if (type === undefined)
    throw inputError('KEY_MALFORMED', `a ${block.label} is not a private key`);
  const key = openKey(block.der, type);
  signatureAlgorithm(key);
  return key;
}

function openKey(der: Uint8Array, type: 'pkcs8' | 'sec1' | 'pkcs1'): KeyObject {
  const outer = new DerReader(der, 'the private key');
  outer.sequence('the private key');
  outer.finish();
  try {
    return createPrivateKey({ key: Buffer.from(der), format: 'der', type });
  } catch {
    throw inputError('KEY_MALFORMED', 'the private key is damaged or of an unknown algorithm');
  }
}

/** The DER SubjectPublicKeyInfo that belongs to a private key. */
export function publicKeyOf(privateKey: KeyObject): Uint8Array {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
}

export interface GeneratedKey {
  readonly key: KeyObject;
  /** PKCS#8. */
  readonly pem: string;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
}

const generate = promisify(generateKeyPair);

const CURVES: ReadonlyMap<string, string> = new Map([
  ['ECDSAP256', 'P-256'],
  ['ECDSAP384', 'P-384'],
  ['ECDSAP521', 'P-521'],
]);

const MODULUS_BITS: ReadonlyMap<string, number> = new Map([
  ['RSA2048', 2048],
  ['RSA3072', 3072],
  ['RSA4096', 4096],
]);

/**
 * Makes a private key, off the main thread: RSA-4096 takes seconds.
 *
 * @throws SignerError KEY_UNSUPPORTED: `keyType` is not a key type of ours
 */
export async function generatePrivateKey(keyType: string): Promise<GeneratedKey> {
  const { privateKey } = await generatePair(keyType);
  const der = privateKey.export({ type: 'pkcs8', format: 'der' });
  return { key: privateKey, pem: encodePem('PRIVATE KEY', der), spki: publicKeyOf(privateKey) };
}

function generatePair(keyType: string): Promise<{ readonly privateKey: KeyObject }> {
  const namedCurve = CURVES.get(keyType);
  if (namedCurve !== undefined) return generate('ec', { namedCurve });
  const modulusLength = MODULUS_BITS.get(keyType);
  if (modulusLength !== undefined)
    return generate('rsa', { modulusLength, publicExponent: 65_537 });
  if (keyType === 'ED25519') return generate('ed25519', {});
  if (keyType === 'MLDSA65') return generate('ml-dsa-65', {});
  throw inputError('KEY_UNSUPPORTED', `"${keyType.slice(0, 40)}" is not a key type`);
}
