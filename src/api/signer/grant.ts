// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../object/object.ts';
import { SIGNS_AT_ONCE } from './rotation-annotations.ts';

/** Consent: the signer that may use the Secret's key. */
export const SIGNER_NAME = 'countersign.dev/signer-name';

/** Ownership: the UID of the ClusterSigner that `authority` created the Secret for. */
export const CLUSTER_SIGNER_UID = 'countersign.dev/cluster-signer-uid';

/** Reports whether the Secret's owner lets this signer use its key. */
export function isGranted(secret: Secret, signerName: string): boolean {
  return secret.metadata.annotations?.[SIGNER_NAME] === signerName;
}

/**
 * Reports whether `authority` created this Secret for this very ClusterSigner, and so may write it.
 */
export function isOwned(secret: Secret, clusterSignerUid: string): boolean {
  return secret.metadata.annotations?.[CLUSTER_SIGNER_UID] === clusterSignerUid;
}

/** Reports whether the CA in this Secret may sign before every kubelet has its anchor. */
export function signsAtOnce(secret: Secret, fingerprint: string): boolean {
  return secret.metadata.annotations?.[SIGNS_AT_ONCE] === fingerprint;
}
