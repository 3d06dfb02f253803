// SPDX-License-Identifier: Apache-2.0
import { constants, verify } from 'node:crypto';
import { contextConstructed } from '../der/der-tags.ts';
import { element, integer, nullValue, oid, sequence } from '../der/der-writer.ts';
import { keyObjectOf, type KeyAlgorithm, type PublicKeyInfo } from './public-key.ts';
import {
  OID_ECDSA_SHA256,
  OID_ECDSA_SHA384,
  OID_ECDSA_SHA512,
  OID_ED25519,
  OID_MGF1,
  OID_MLDSA65,
  OID_RSA_PSS,
  OID_RSA_SHA256,
  OID_RSA_SHA384,
  OID_RSA_SHA512,
  OID_SHA256,
  OID_SHA384,
  OID_SHA512,
} from '../der/oids.ts';
import { inputError } from '../der/input-error.ts';

/** The verification of signatures under one AlgorithmIdentifier. */
interface Verification {
  readonly key: KeyAlgorithm;
  readonly digest: string | null;
  readonly padding?: number;
  readonly saltLength?: number;
}

/**
 * The accepted signature algorithms, by the hex of the whole AlgorithmIdentifier, so that
 * parameters are checked too.
 *
 * RSA PKCS#1 v1.5 has NULL or no parameters (RFC 4055 §5), and so has ECDSA, although RFC 5758 §3.2
 * omits them: Go and OpenSSL read both alike. RSASSA-PSS has, as in Go, MGF1 of the same hash and a
 * salt as long as the hash. Its hashes have NULL (Go) or no parameters (OpenSSL). SHA-1 and DSA are
 * missing.
 */
const VERIFICATIONS: ReadonlyMap<string, Verification> = new Map<string, Verification>([
  ...rsa(OID_RSA_SHA256, 'sha256'),
  ...rsa(OID_RSA_SHA384, 'sha384'),
  ...rsa(OID_RSA_SHA512, 'sha512'),
  ...pss(OID_SHA256, 'sha256', 32),
  ...pss(OID_SHA384, 'sha384', 48),
  ...pss(OID_SHA512, 'sha512', 64),
  ...withoutParameters(OID_ECDSA_SHA256, { key: 'ECDSA', digest: 'sha256' }),
  ...withoutParameters(OID_ECDSA_SHA384, { key: 'ECDSA', digest: 'sha384' }),
  ...withoutParameters(OID_ECDSA_SHA512, { key: 'ECDSA', digest: 'sha512' }),
  row(sequence(oid(OID_ED25519)), { key: 'ED25519', digest: null }),
  row(sequence(oid(OID_MLDSA65)), { key: 'MLDSA65', digest: null }),
]);

type Row = readonly [string, Verification];

function row(der: Uint8Array, verification: Verification): Row {
  return [hex(der), verification];
}

function rsa(type: string, digest: string): readonly Row[] {
  return withoutParameters(type, { key: 'RSA', digest, padding: constants.RSA_PKCS1_PADDING });
}

function withoutParameters(type: string, verification: Verification): readonly Row[] {
  return [
    row(sequence(oid(type), nullValue()), verification),
    row(sequence(oid(type)), verification),
  ];
}

/**
 * Returns the rows for RSASSA-PSS-params (RFC 4055 §3.1). The trailer field is 1, the default,
 * which DER omits and some encoders write.
 */
function pss(hash: string, digest: string, saltLength: number): readonly Row[] {
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const trailer = element(contextConstructed(3), integer(Uint8Array.of(1)));
  return [sequence(oid(hash), nullValue()), sequence(oid(hash))].flatMap((hashAlgorithm) => {
    const parameters = [
      element(contextConstructed(0), hashAlgorithm),
      element(contextConstructed(1), sequence(oid(OID_MGF1), hashAlgorithm)),
      element(contextConstructed(2), integer(Uint8Array.of(saltLength))),
    ];
    return [sequence(...parameters), sequence(...parameters, trailer)].map((each) =>
      row(sequence(oid(OID_RSA_PSS), each), { key: 'RSA', digest, padding, saltLength }),
    );
  });
}

function hex(der: Uint8Array): string {
  return Buffer.from(der.buffer, der.byteOffset, der.length).toString('hex');
}

/** Reports whether signatures by this DER AlgorithmIdentifier can be verified. */
export function isVerifiable(algorithm: Uint8Array): boolean {
  return VERIFICATIONS.has(hex(algorithm));
}

/** Data and a signature of it. */
export interface SignedData {
  /** DER AlgorithmIdentifier. */
  readonly algorithm: Uint8Array;
  readonly publicKey: PublicKeyInfo;
  readonly data: Uint8Array;
  /** The signature as in the certificate, for ECDSA in DER (RFC 3279 §2.2.3). */
  readonly signature: Uint8Array;
}

/**
 * Verifies a signature.
 *
 * @returns the fault as a predicate for messages, or undefined when it verifies
 * @throws SignerError KEY_MALFORMED when node:crypto rejects the key
 */
export function signatureProblem(signed: SignedData): string | undefined {
  const { publicKey, data, signature } = signed;
  const found = VERIFICATIONS.get(hex(signed.algorithm));
  if (found === undefined) return 'has an algorithm, or parameters of it, that are not supported';
  if (found.key !== publicKey.algorithm) {
    return `has an algorithm for ${found.key} keys, but the key is ${publicKey.algorithm}`;
  }
  if (isInsecure(publicKey)) {
    return `is made with an RSA key of ${publicKey.bits} bits, fewer than ${MIN_VERIFIABLE_RSA_BITS}`;
  }
  return verifyWith(found, publicKey, data, signature) ? undefined : 'does not verify';
}

function verifyWith(
  { digest, padding, saltLength }: Proof,
  publicKey: PublicKeyInfo,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (!hasPossibleLength(publicKey, signature)) return false;
  const key = keyObjectOf(publicKey);
  // Only RSA needs options. For any object but a KeyObject Node 24 throws and catches two errors
  // (public-key.ts).
  const how =
    padding === undefined
      ? key
      : { key, padding, ...(saltLength === undefined ? {} : { saltLength }) };
  try {
    return verify(digest, data, how, signature);
  } catch {
    // node:crypto throws for some malformed signatures and returns false for others.
    return false;
  }
}

/**
 * Reports whether the length is possible. An RSA signature is as long as the modulus (RFC 8017
 * §8.1.2 step 1, §8.2.2 step 1). OpenSSL does not check that of RSASSA-PSS: it accepts a signature
 * whose first octet is zero without that octet, too.
 */
function hasPossibleLength({ algorithm, bits }: PublicKeyInfo, signature: Uint8Array): boolean {
  return algorithm !== 'RSA' || signature.length === Math.ceil(bits / 8);
}

/** The limit of Go, and so of the API server: they verify no signature by a shorter RSA key. */
const MIN_VERIFIABLE_RSA_BITS = 1024;

function isInsecure({ algorithm, bits }: PublicKeyInfo): boolean {
  return algorithm === 'RSA' && bits < MIN_VERIFIABLE_RSA_BITS;
}

function verifiesProofOfPossession(
  publicKey: PublicKeyInfo,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  const proof = PROOFS.get(publicKey.algorithm);
  return (
    proof !== undefined && !isInsecure(publicKey) && verifyWith(proof, publicKey, data, signature)
  );
}

type Proof = Pick<Verification, 'digest' | 'padding' | 'saltLength'>;

const PROOFS: ReadonlyMap<KeyAlgorithm, Proof> = new Map<KeyAlgorithm, Proof>([
  [
    'RSA',
    {
      digest: 'sha256',
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_AUTO,
    },
  ],
  ['ECDSA', { digest: 'sha256' }],
  ['ED25519', { digest: null }],
]);

/**
 * Reports whether a signature verifies with this key, by a supported algorithm that fits the key.
 *
 * @param algorithmDer - DER AlgorithmIdentifier
 * @param tbs - the bytes that the signature covers
 * @throws SignerError KEY_MALFORMED when node:crypto rejects the key
 */
export function verifySignature(
  publicKey: PublicKeyInfo,
  algorithmDer: Uint8Array,
  tbs: Uint8Array,
  signature: Uint8Array,
): boolean {
  return (
    signatureProblem({ algorithm: algorithmDer, publicKey, data: tbs, signature }) === undefined
  );
}

/**
 * Checks `spec.proofOfPossession` of a v1beta1 PodCertificateRequest (KEP-4317): a signature of the
 * pod's UID, by RSASSA-PSS with SHA-256 and any salt length, ECDSA with SHA-256, or Ed25519.
 *
 * @param message - the UID in ASCII
 * @throws SignerError REQUEST_SIGNATURE when it does not verify, KEY_MALFORMED when node:crypto
 *   rejects the key
 */
export function verifyProofOfPossession(
  publicKey: PublicKeyInfo,
  message: Uint8Array,
  proof: Uint8Array,
): void {
  if (!verifiesProofOfPossession(publicKey, message, proof)) {
    throw inputError('REQUEST_SIGNATURE', 'the proof of possession is not a signature of this key');
  }
}
