// SPDX-License-Identifier: Apache-2.0
import type { Place } from '../../kube/workqueue/fair-order.ts';

/**
 * Signers by their namespaces, ClusterSigners, and our own ports take turns: who writes one Signer after
 * the other holds up those of his own namespace, not the rotation of everybody's CAs.
 */
export function placeOfSigner(key: string): Place {
  return { flows: [key.slice(0, key.indexOf('/') + 1)] };
}
