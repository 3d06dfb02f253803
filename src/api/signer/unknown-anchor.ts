// SPDX-License-Identifier: Apache-2.0

/**
 * Advice about an anchor that a bundle keeps for an earlier ClusterSigner. Only a managed CA has a
 * list of distrusted CAs, and no signer can switch to a managed CA.
 */
export const UNKNOWN_ANCHOR_ADVICE =
  'If you do not know it, and the CA is managed, name it in spec.authority.managed.distrusted. If the CA is your own, no field removes the anchor earlier';
