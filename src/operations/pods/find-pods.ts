// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isAlive, countPodCertificates, type Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { affectedPods, type AffectedPod } from './affected-pods.ts';
import { stoppedSigningBy } from '#ca/rotation/authorities.ts';
import { newestIssuerOf } from './newest-issuer.ts';

/** The CA, and the places to search for pods. */
export interface FindPodsInit {
  readonly client: Client;
  readonly signer: ClusterSigner;
  readonly authority: AuthorityStatus;
  /** Namespaces to search. Empty for all. */
  readonly namespaces: readonly string[];
  /** PodCertificateRequests in the version that the API server serves. */
  readonly requests: Resource;
}

/** Number of pods that mount the signer, and those that may hold a leaf of the CA. */
export interface PodScan {
  readonly mounts: number;
  readonly affected: readonly AffectedPod[];
}

/** Selects unfinished pods, which alone need a credential. The API server filters by it. */
const ALIVE = 'status.phase!=Succeeded,status.phase!=Failed';

/**
 * Lists pods with the user's permissions. A user who may not list all pods passes namespaces.
 * @throws KubeError (`wait`) 403 if the user may not list pods
 */
export async function findPods(init: FindPodsInit): Promise<PodScan> {
  const { client, signer, authority, namespaces } = init;
  const { signerName } = signer.spec;
  const pods: Pod[] = [];
  for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
    const found = await listObjects<Pod>(client, PODS, {
      namespace,
      fieldSelector: ALIVE,
      keep: (pod) => isAlive(pod) && countPodCertificates(pod, signerName) > 0,
    });
    pods.push(...found);
  }
  return scanPods(pods, await requestsOf(init), { signerName, authority });
}

/**
 * Returns which pods may hold a leaf of a CA.
 * @param pods - running pods that mount the signer
 * @param requests - PodCertificateRequests, also of other pods and signers
 */
export function scanPods(
  pods: readonly Pod[],
  requests: readonly PodCertificateRequest[],
  { signerName, authority }: { readonly signerName: string; readonly authority: AuthorityStatus },
): PodScan {
  const newestIssuer = newestIssuerOf(requests, signerName, authority);
  const affected = affectedPods({ pods, stoppedBy: stoppedSigningBy(authority), newestIssuer });
  return { mounts: pods.length, affected };
}

/**
 * Lists PodCertificateRequests. Returns none if the user may not list them. Then the creation time
 * of a pod decides.
 */
async function requestsOf(init: FindPodsInit): Promise<readonly PodCertificateRequest[]> {
  const { client, signer, namespaces, requests } = init;
  const found: PodCertificateRequest[] = [];
  const fieldSelector = `spec.signerName=${signer.spec.signerName}`;
  try {
    for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
      const selection = { namespace, fieldSelector };
      found.push(...(await listObjects<PodCertificateRequest>(client, requests, selection)));
    }
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
  }
  return found;
}
