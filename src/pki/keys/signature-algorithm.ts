// SPDX-License-Identifier: Apache-2.0
import { sign as cryptoSign, type KeyObject } from 'node:crypto';
import { integer, nullValue, oid, sequence } from '../der/der-writer.ts';
import {
  OID_ECDSA_SHA256,
  OID_ECDSA_SHA384,
  OID_ECDSA_SHA512,
  OID_ED25519,
  OID_MLDSA65,
  OID_RSA_SHA256,
} from '../der/oids.ts';
import { inputError } from '../der/input-error.ts';
import { DerReader } from '../der/der-reader.ts';
import { TAG_SEQUENCE, TAG_OID } from '../der/der-tags.ts';
import { oidOf } from '../der/der-values.ts';

/** The algorithm by which one private key signs certificates and requests. */
export interface SignatureAlgorithm {
  /** The name for people and logs. */
  readonly name: string;
  /** DER AlgorithmIdentifier. */
  readonly der: Uint8Array;
  /**
   * Signs `data`, for ECDSA in DER (RFC 3279 §2.2.3). It is synchronous: a P-256 signature takes 20
   * µs, less than a message to another thread. RSA-4096 and ML-DSA-65 block the thread for about a
   * millisecond (docs/explanation/ml-dsa.md).
   */
  readonly sign: (data: Uint8Array) => Uint8Array;
}

/** The algorithm of a key, wherever its private half is. */
export interface SignatureScheme {
  /** The name for people and logs. */
  readonly name: string;
  /** DER AlgorithmIdentifier. */
  readonly der: Uint8Array;
  /** The digest's name in node:crypto, or null if the algorithm hashes by itself. */
  readonly digest: string | null;
}

const ED25519: SignatureScheme = { name: 'Ed25519', der: sequence(oid(OID_ED25519)), digest: null };

/** It has no parameters and no context. It signs the message itself, not its hash (RFC 9881 §3). */
const MLDSA65: SignatureScheme = {
  name: 'ML-DSA-65',
  der: sequence(oid(OID_MLDSA65)),
  digest: null,
};

const RSA: SignatureScheme = {
  name: 'RSA PKCS#1 v1.5 with SHA-256',
  der: sequence(oid(OID_RSA_SHA256), nullValue()),
  digest: 'sha256',
};

/** Schemes by node:crypto's name of the curve. The hash is as strong as the curve (RFC 5480 §4). */
const ECDSA: ReadonlyMap<string, SignatureScheme> = new Map<string, SignatureScheme>([
  [
    'prime256v1',
    { name: 'ECDSA P-256 with SHA-256', der: sequence(oid(OID_ECDSA_SHA256)), digest: 'sha256' },
  ],
  [
    'secp384r1',
    { name: 'ECDSA P-384 with SHA-384', der: sequence(oid(OID_ECDSA_SHA384)), digest: 'sha384' },
  ],
  [
    'secp521r1',
    { name: 'ECDSA P-521 with SHA-512', der: sequence(oid(OID_ECDSA_SHA512)), digest: 'sha512' },
  ],
]);

/**
 * Returns the algorithm of a private key: ECDSA with the hash of its curve's size, Ed25519, RSA
 * PKCS#1 v1.5 with SHA-256, or ML-DSA-65.
 *
 * @throws SignerError KEY_UNSUPPORTED for a key of another type
 */
export function signatureAlgorithm(privateKey: KeyObject): SignatureAlgorithm {
  const { name, der, digest } = signatureScheme(privateKey);
  return { name, der, sign: (data) => cryptoSign(digest, data, privateKey) };
}

/**
 * Returns how a public or private key signs.
 *
 * @throws SignerError KEY_UNSUPPORTED for a key of another type
 */
export function signatureScheme(key: KeyObject): SignatureScheme {
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const ecdsa = key.asymmetricKeyType === 'ec' ? ECDSA.get(curve) : undefined;
  if (ecdsa !== undefined) return ecdsa;
  if (key.asymmetricKeyType === 'ed25519') return ED25519;
  if (key.asymmetricKeyType === 'rsa') return RSA;
  if (key.asymmetricKeyType === 'ml-dsa-65') return MLDSA65;
  throw inputError(
    'KEY_UNSUPPORTED',
    `the ${key.type} key has the type ${`${key.asymmetricKeyType ?? key.type} ${curve}`.trim()}, which is not supported; use ECDSA P-256, P-384 or P-521, Ed25519, RSA or ML-DSA-65`,
  );
}

/**
 * Encodes an ECDSA signature in DER (RFC 3279 §2.2.3).
 *
 * @param raw - r and s, each as long as the order of the curve, as PKCS#11 has them
 */
export function encodeEcdsaSignature(raw: Uint8Array): Uint8Array {
  const half = raw.length / 2;
  return sequence(integer(raw.subarray(0, half)), integer(raw.subarray(half)));
}

/**
 * Reads the AlgorithmIdentifier at the reader's position: an OBJECT IDENTIFIER and at most one
 * parameter (RFC 5280 §4.1.1.2). The verification of a signature checks whether the algorithm is
 * supported.
 *
 * @param what - the name of the value in messages
 * @returns the whole DER with its header
 * @throws SignerError DER_MALFORMED or DER_LIMIT
 */
export function readAlgorithmIdentifier(reader: DerReader, what: string): Uint8Array {
  const der = reader.raw(what, TAG_SEQUENCE);
  const fields = new DerReader(der, what).sequence(what);
  oidOf(fields.read(TAG_OID, what), what);
  if (!fields.isDone()) fields.raw(`the parameters of ${what}`);
  fields.finish();
  return der;
}
