// SPDX-License-Identifier: Apache-2.0
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { KeyType } from '#base/vocabulary.ts';
import { type Curve, CURVES, isOnCurve } from './curves.ts';
import { DerReader, readWhole } from '../der/der-reader.ts';
import { TAG_BIT_STRING, TAG_NULL, TAG_OID } from '../der/der-tags.ts';
import { oidOf, wholeBytes } from '../der/der-values.ts';
import { OID_EC, OID_ED25519, OID_MLDSA65, OID_RSA } from '../der/oids.ts';
import { encodePem } from '../der/pem.ts';
import { inputError } from '../der/input-error.ts';
import { bitLength, decodeRsaNumbers } from './rsa-numbers.ts';

/** The algorithms of decoded public keys. Only CAs have `MLDSA65`. */
export type KeyAlgorithm = 'RSA' | 'ECDSA' | 'ED25519' | 'MLDSA65';

/** A decoded public key of valid form. `checkKey` of weak-keys.ts checks its strength. */
export interface PublicKeyInfo {
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly algorithm: KeyAlgorithm;
  /** Bits of the RSA modulus or of the curve. For ML-DSA, bits of the whole key. */
  readonly bits: number;
  /** The name of its type and size in a profile. Undefined if the API has none. */
  readonly keyType: KeyType | undefined;
  /** Contents of the subjectPublicKey BIT STRING. */
  readonly bytes: Uint8Array;
}

/** The limit of a key. An 8192-bit RSA key has 1062 bytes, an ML-DSA-65 key 1974. */
const MAX_SPKI_BYTES = 2200;

const RSA_KEY_TYPES: ReadonlyMap<number, KeyType> = new Map([
  [2048, 'RSA2048'],
  [3072, 'RSA3072'],
  [4096, 'RSA4096'],
]);

/**
 * A module-level cache for the lifetime of each key, because an import costs as much as a
 * verification.
 */
const imported = new WeakMap<PublicKeyInfo, KeyObject>();

/**
 * Decodes a key that a leaf may have.
 *
 * @param spki - DER SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) and nothing after it
 * @throws SignerError DER_MALFORMED, DER_LIMIT, KEY_MALFORMED or KEY_UNSUPPORTED
 */
export function decodePublicKey(spki: Uint8Array): PublicKeyInfo {
  const key = readPublicKey(new DerReader(spki, 'the public key'));
  if (key.spki.length !== spki.length) {
    throw inputError('KEY_MALFORMED', 'the public key has trailing bytes');
  }
  return key;
}

/**
 * Reads the SubjectPublicKeyInfo at the reader's position, if a leaf may have it: RSA, P-256,
 * P-384, P-521 or Ed25519.
 *
 * @throws SignerError DER_MALFORMED, DER_LIMIT, KEY_MALFORMED or KEY_UNSUPPORTED
 */
export function readPublicKey(reader: DerReader): PublicKeyInfo {
  const key = readCertifiedKey(reader);
  if (key.algorithm !== 'MLDSA65') return key;
  throw inputError('KEY_UNSUPPORTED', 'only CAs have ML-DSA-65 keys; use a key of another type');
}

/**
 * Reads the SubjectPublicKeyInfo of any certificate at the reader's position, including ML-DSA-65,
 * which only CAs have.
 *
 * @throws SignerError DER_MALFORMED, DER_LIMIT, KEY_MALFORMED or KEY_UNSUPPORTED
 */
export function readCertifiedKey(reader: DerReader): PublicKeyInfo {
  const spki = reader.raw('the public key');
  const info = readWhole(spki, 'the public key', MAX_SPKI_BYTES);
  const algorithm = info.sequence('the key algorithm');
  const type = oidOf(algorithm.read(TAG_OID, 'the key algorithm'), 'the key algorithm');
  const bytes = (): Uint8Array => {
    algorithm.finish();
    const contents = wholeBytes(info.read(TAG_BIT_STRING, 'the key bits'), 'the key bits');
    info.finish();
    return contents;
  };
  switch (type) {
    case OID_RSA:
      if (algorithm.read(TAG_NULL, 'the RSA parameters').length > 0) {
        throw inputError('KEY_MALFORMED', 'the RSA parameters are not empty');
      }
      return rsaKey(spki, bytes());
    case OID_EC:
      return ecKey(spki, readCurve(algorithm), bytes());
    case OID_ED25519:
      return edKey(spki, bytes());
    case OID_MLDSA65:
      return mldsaKey(spki, bytes());
    default:
      throw inputError(
        'KEY_UNSUPPORTED',
        `the key algorithm ${type} is not RSA, ECDSA or Ed25519; use a key of another type`,
      );
  }
}

function rsaKey(spki: Uint8Array, bytes: Uint8Array): PublicKeyInfo {
  const bits = bitLength(decodeRsaNumbers(bytes).modulus);
  return { spki, algorithm: 'RSA', bits, keyType: RSA_KEY_TYPES.get(bits), bytes };
}

/**
 * Reads a named curve (RFC 5480 §2.1.1). Explicit parameters can hide a chosen generator
 * (CVE-2020-0601).
 */
function readCurve(algorithm: DerReader): Curve {
  if (!algorithm.at(TAG_OID)) {
    throw inputError(
      'KEY_UNSUPPORTED',
      'the EC key has explicit parameters instead of a named curve',
    );
  }
  const name = oidOf(algorithm.read(TAG_OID, 'the curve'), 'the curve');
  const curve = CURVES.get(name);
  if (curve === undefined) {
    throw inputError('KEY_UNSUPPORTED', `the curve ${name} is not P-256, P-384 or P-521`);
  }
  return curve;
}

/** Accepts uncompressed points only, as Go does. */
function ecKey(spki: Uint8Array, curve: Curve, bytes: Uint8Array): PublicKeyInfo {
  if (!isOnCurve(curve, bytes)) {
    throw inputError('KEY_MALFORMED', 'the EC key is not an uncompressed point of its curve');
  }
  return { spki, algorithm: 'ECDSA', bits: curve.bits, keyType: curve.keyType, bytes };
}

function edKey(spki: Uint8Array, bytes: Uint8Array): PublicKeyInfo {
  if (bytes.length !== 32)
    throw inputError('KEY_MALFORMED', 'the Ed25519 key is not 32 bytes long');
  return { spki, algorithm: 'ED25519', bits: 256, keyType: 'ED25519', bytes };
}

/** The size in FIPS 204 table 2. Every string of this length is a key (FIPS 204 §7.2, pkDecode). */
const MLDSA65_BYTES = 1952;

function mldsaKey(spki: Uint8Array, bytes: Uint8Array): PublicKeyInfo {
  if (bytes.length !== MLDSA65_BYTES) {
    throw inputError('KEY_MALFORMED', `the ML-DSA-65 key is not ${MLDSA65_BYTES} bytes long`);
  }
  return { spki, algorithm: 'MLDSA65', bits: 8 * MLDSA65_BYTES, keyType: undefined, bytes };
}

/**
 * Returns the key as a KeyObject of node:crypto, imported once for each `key`.
 *
 * @throws SignerError KEY_MALFORMED when node:crypto rejects it
 */
export function keyObjectOf(key: PublicKeyInfo): KeyObject {
  const known = imported.get(key);
  if (known !== undefined) return known;
  try {
    // Passes PEM. For an options object in place of a KeyObject, Node 24 throws and catches two
    // errors with stack traces, which costs more than the import itself (35 against 15 µs).
    const object = createPublicKey(encodePem('PUBLIC KEY', key.spki));
    imported.set(key, object);
    return object;
  } catch (error) {
    throw inputError('KEY_MALFORMED', `the ${key.algorithm} public key is not valid`, error);
  }
}

/**
 * Returns the key identifier of a key: SHA-1 of the subjectPublicKey bits (RFC 5280 §4.2.1.2,
 * method 1). It only names the key, so collisions of SHA-1 do no harm.
 *
 * @param spki - DER SubjectPublicKeyInfo
 * @returns 20 bytes
 * @throws SignerError DER_MALFORMED
 */
export function keyIdentifier(spki: Uint8Array): Uint8Array {
  const info = new DerReader(spki, 'the public key').sequence('the public key');
  info.raw('the key algorithm');
  return hash(
    'sha1',
    wholeBytes(info.read(TAG_BIT_STRING, 'the key bits'), 'the key bits'),
    'buffer',
  );
}
