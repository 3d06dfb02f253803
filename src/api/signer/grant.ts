// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../object/object.ts';
import { SIGNS_AT_ONCE } from './rotation-annotations.ts';

/** Consent: the Secret says which signer may use its key. */
export const SIGNER_NAME = 'countersign.dev/signer-name';

/** Ownership: the UID of the ClusterSigner that `authority` made the Secret for. */
export const CLUSTER_SIGNER_UID = 'countersign.dev/cluster-signer-uid';

/** The Secret's owner lets this signer sign with its key. */
export function isGranted(secret: Secret, signerName: string): boolean {
  return secret.metadata.annotations?.[SIGNER_NAME] === signerName;
}

/** `authority` made this Secret for this very ClusterSigner, and may therefore write it. */
export function isOwned(secret: Secret, clusterSignerUid: string): boolean {
  return secret.metadata.annotations?.[CLUSTER_SIGNER_UID] === clusterSignerUid;
}

/** The CA in this Secret need not wait until every kubelet has its anchor. */
export function signsAtOnce(secret: Secret, fingerprint: string): boolean {
  return secret.metadata.annotations?.[SIGNS_AT_ONCE] === fingerprint;
}
