// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { publicKeyOf } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';

/** The private key of a CA: in memory, or in a token. */
export interface CaKey {
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  /** The algorithm of its signatures: a name for people, and the DER AlgorithmIdentifier. */
  readonly algorithm: { readonly name: string; readonly der: Uint8Array };
  /** Signs bytes, for ECDSA in DER (RFC 3279 §2.2.3). May reject while a token is unavailable. */
  readonly sign: (data: Uint8Array) => Promise<Uint8Array>;
}

/**
 * Returns a key in memory as a CaKey.
 *
 * @throws SignerError KEY_UNSUPPORTED for a key of another type
 */
export function caKeyOf(key: KeyObject): CaKey {
  const algorithm = signatureAlgorithm(key);
  return {
    spki: publicKeyOf(key),
    algorithm,
    sign: (data) => Promise.resolve(algorithm.sign(data)),
  };
}
