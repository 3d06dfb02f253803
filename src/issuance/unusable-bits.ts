// SPDX-License-Identifier: Apache-2.0
import type { KeyAlgorithm } from '../pki/keys/public-key.ts';
import type { KeyUsageBit } from '../pki/extensions/usages.ts';

/**
 * What a key of this kind cannot do, and a leaf of it therefore must not say: RFC 3279 §2.3.1 for
 * RSA, RFC 5480 §3 for ECDSA, RFC 9295 §3 for Ed25519,
 * RFC 9881 §5 for ML-DSA.
 */
export const UNUSABLE_BITS: Readonly<Record<KeyAlgorithm, readonly KeyUsageBit[]>> = {
  RSA: ['keyAgreement', 'encipherOnly', 'decipherOnly'],
  ECDSA: ['keyEncipherment', 'dataEncipherment'],
  ED25519: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
  MLDSA65: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
};
