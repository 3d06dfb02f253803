// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { DerReader } from '../der/der-reader.ts';
import { encodePem, readPemBlocks } from '../der/pem.ts';
import { inputError } from '../der/input-error.ts';
import { signatureAlgorithm } from './signature-algorithm.ts';

/** PEM labels of RFC 5958, RFC 5915 and RFC 8017, and node:crypto's names of their contents. */
const FORMS: ReadonlyMap<string, 'pkcs8' | 'sec1' | 'pkcs1'> = new Map([
  ['PRIVATE KEY', 'pkcs8'],
  ['EC PRIVATE KEY', 'sec1'],
  ['RSA PRIVATE KEY', 'pkcs1'],
]);

const HELP = 'store it unencrypted as PKCS#8 ("openssl pkcs8 -topk8 -nocrypt")';

/**
 * Reads a PEM text with one private key: PKCS#8 (RFC 5958), SEC1 (RFC 5915) or PKCS#1 (RFC 8017
 * appendix A.1.2). Skips `EC PARAMETERS` before SEC1, which OpenSSL writes. No message or cause of
 * an error contains any part of the key.
 *
 * @throws SignerError KEY_ENCRYPTED, KEY_MALFORMED, KEY_UNSUPPORTED, PEM_MALFORMED or DER_MALFORMED
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
      `found ${blocks.length} PEM blocks, expected one private key`,
    );
  }
  const type = FORMS.get(block.label);
  if (type === undefined)
    throw inputError('KEY_MALFORMED', `found a ${block.label} block, expected a private key`);
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

/** Returns the public half of a private key, as DER SubjectPublicKeyInfo. */
export function publicKeyOf(privateKey: KeyObject): Uint8Array {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
}

/** A new private key in the forms that its users need. */
export interface GeneratedKey {
  readonly key: KeyObject;
  /** PEM of PKCS#8, unencrypted. */
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
 * Generates a private key on another thread, because RSA-4096 takes seconds. OpenSSL provides the
 * randomness.
 *
 * @param keyType - a KeyType or AuthorityKeyType, as in `ECDSAP256`
 * @throws SignerError KEY_UNSUPPORTED for another `keyType`
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
  throw inputError('KEY_UNSUPPORTED', `${quote(keyType, 40)} is not a key type`);
}
