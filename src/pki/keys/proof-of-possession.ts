// SPDX-License-Identifier: Apache-2.0
import { refused } from '../der/refused.ts';
import type { PublicKeyInfo } from './keys.ts';
import { verifiesProof } from './signature-verification.ts';

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
  if (!verifiesProof(publicKey, message, proof)) {
    throw refused('REQUEST_SIGNATURE', 'the proof of possession is not a signature of this key');
  }
}
