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

/** How signatures under one AlgorithmIdentifier are verified. */
interface Verification {
  readonly key: KeyAlgorithm;
  readonly digest: string | null;
  readonly padding?: number;
  readonly saltLength?: number;
}

/**
 * By the hex of the whole AlgorithmIdentifier, so that its parameters are checked with it. RSA takes
 * NULL or nothing (RFC 4055 §5); PSS the two forms a hash that are about, with NULL (Go) or nothing
 * (OpenSSL), MGF1 of the same hash and a salt as long as it (as Go). SHA-1 and DSA have no row.
 */
const VERIFICATIONS: ReadonlyMap<string, Verification> = new Map<string, Verification>([
  ...rsa(OID_RSA_SHA256, 'sha256'),
  ...rsa(OID_RSA_SHA384, 'sha384'),
  ...rsa(OID_RSA_SHA512, 'sha512'),
  ...pss(OID_SHA256, 'sha256', 32),
  ...pss(OID_SHA384, 'sha384', 48),
  ...pss(OID_SHA512, 'sha512', 64),
  row(sequence(oid(OID_ECDSA_SHA256)), { key: 'ECDSA', digest: 'sha256' }),
  row(sequence(oid(OID_ECDSA_SHA384)), { key: 'ECDSA', digest: 'sha384' }),
  row(sequence(oid(OID_ECDSA_SHA512)), { key: 'ECDSA', digest: 'sha512' }),
  row(sequence(oid(OID_ED25519)), { key: 'ED25519', digest: null }),
  row(sequence(oid(OID_MLDSA65)), { key: 'MLDSA65', digest: null }),
]);

type Row = readonly [string, Verification];

function row(der: Uint8Array, verification: Verification): Row {
  return [hex(der), verification];
}

function rsa(type: string, digest: string): readonly Row[] {
  const verification: Verification = { key: 'RSA', digest, padding: constants.RSA_PKCS1_PADDING };
  return [
    row(sequence(oid(type), nullValue()), verification),
    row(sequence(oid(type)), verification),
  ];
}

/** RFC 4055 §3.1; the trailer field is left out, being the default. */
function pss(hash: string, digest: string, saltLength: number): readonly Row[] {
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return [sequence(oid(hash), nullValue()), sequence(oid(hash))].map((hashAlgorithm) => {
    const parameters = sequence(
      element(contextConstructed(0), hashAlgorithm),
      element(contextConstructed(1), sequence(oid(OID_MGF1), hashAlgorithm)),
      element(contextConstructed(2), integer(Uint8Array.of(saltLength))),
    );
    const algorithm = sequence(oid(OID_RSA_PSS), parameters);
    return row(algorithm, { key: 'RSA', digest, padding, saltLength });
  });
}

function hex(der: Uint8Array): string {
  return Buffer.from(der.buffer, der.byteOffset, der.length).toString('hex');
}

export interface SignedData {
  /** DER AlgorithmIdentifier. */
  readonly algorithm: Uint8Array;
  readonly publicKey: PublicKeyInfo;
  readonly data: Uint8Array;
  readonly signature: Uint8Array;
}

/** What is wrong with a signature, as the end of a sentence, or undefined when it verifies. */
export function signatureProblem(signed: SignedData): string | undefined {
  const { publicKey, data, signature } = signed;
  const found = VERIFICATIONS.get(hex(signed.algorithm));
  if (found === undefined) return 'is of an algorithm, or has parameters, that are not accepted';
  if (found.key !== publicKey.algorithm) {
    return `is of an algorithm for ${found.key} keys, but the key is ${publicKey.algorithm}`;
  }
  if (isInsecure(publicKey)) {
    return `is by an RSA key of ${publicKey.bits} bits, which proves nothing`;
  }
  return verifyWith(found, publicKey, data, signature) ? undefined : 'does not verify';
}

function verifyWith(
  { digest, padding, saltLength }: Proof,
  publicKey: PublicKeyInfo,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  const key = keyObjectOf(publicKey);
  // The key itself where nothing is to be said with it, as for ECDSA and Ed25519: Node 24 throws and
  // catches two errors for any other object (keys.ts).
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

/** Go verifies no signature by an RSA key below this, nor does the API server. */
const MIN_VERIFIABLE_RSA_BITS = 1024;

function isInsecure({ algorithm, bits }: PublicKeyInfo): boolean {
  return algorithm === 'RSA' && bits < MIN_VERIFIABLE_RSA_BITS;
}

/** RSA-PSS, ECDSA and Ed25519 as v1beta1 PodCertificateRequests sign their pod's UID. */
export function verifiesProofOfPossession(
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

/** The signature was made with this key, by an algorithm that we know and that fits the key. */
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
 * Checks `spec.proofOfPossession` of a v1beta1 PodCertificateRequest: a signature over the pod's UID
 * with RSA-PSS and SHA-256, with ECDSA and SHA-256, or with Ed25519.
 *
 * @throws SignerError REQUEST_SIGNATURE
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
