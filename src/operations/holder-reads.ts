// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { isCertManagerServed } from './cert-manager-served.ts';
import { findPods, type PodScan } from './pods/find-pods.ts';
import type { SignerState } from './signer-state.ts';
import type { HolderReads } from './verbs/plan-revocation.ts';

/** Returns the reads of holders of leaves, with the user's permissions. */
export function holderReads(client: Client, state: SignerState): HolderReads {
  return {
    pods: async (authority) =>
      (await unlessForbidden(podsOfCa(client, state, authority)))?.affected.length,
    hasCertManager: () => unlessForbidden(isCertManagerServed(client)),
  };
}

/**
 * Lists the pods that may hold a leaf of a CA.
 *
 * @param namespaces - to search. Empty for all.
 * @throws KubeError (`wait`) 403 if the user may not list pods
 */
export async function podsOfCa(
  client: Client,
  { signer }: SignerState,
  authority: AuthorityStatus,
  namespaces: readonly string[] = [],
): Promise<PodScan> {
  const [requests] = await certificatesResources(client, 'podcertificaterequests');
  return findPods({ client, signer, authority, namespaces, requests });
}

/**
 * Returns undefined if the API server answers 403: the user may not read it. Throws other errors.
 */
export async function unlessForbidden<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  });
}
