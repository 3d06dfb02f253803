// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { isAlive, countPodCertificates, type Pod } from '../../api/object/pod.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { PODS } from '../../kube/resource/core-v1.ts';
import { listPages } from '../../kube/watch/list-pages.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { affectedPods, type AffectedPod } from './affected-pods.ts';
import { stoppedSigningBy } from '../leaf-expiry.ts';
import { newestIssuerOf } from './newest-issuer.ts';

/** Where to look for pods, and for which CA. */
export interface FindPodsInit {
  readonly client: Client;
  readonly signer: ClusterSigner;
  readonly authority: AuthorityStatus;
  /** Namespaces to look in; empty for all. */
  readonly namespaces: readonly string[];
  /** PodCertificateRequests in the version that the API server has. */
  readonly requests: Resource;
}

/** Pods that mount the signer, and which of them may hold a leaf of the CA. */
export interface FoundPods {
  readonly mounting: number;
  readonly holding: readonly AffectedPod[];
}

/** Finished pods need no credential. The API server filters them out. */
const ALIVE = 'status.phase!=Succeeded,status.phase!=Failed';

/**
 * Lists pods with the user's permissions. A user who may not list all pods passes namespaces.
 *
 * @throws KubeError (`wait`) 403 when the user may not list pods
 */
export async function findPods(init: FindPodsInit): Promise<FoundPods> {
  const { client, signer, authority, namespaces } = init;
  const { signerName } = signer.spec;
  const pods: Pod[] = [];
  for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
    const path = PODS.collection(namespace);
    await listPages({ client, path, fieldSelector: ALIVE }, (object) => {
      const pod = object as Pod;
      if (isAlive(pod) && countPodCertificates(pod, signerName) > 0) pods.push(pod);
    });
  }
  const newestIssuer = newestIssuerOf(await requestsOf(init), signerName, authority);
  const holding = affectedPods({ pods, stoppedBy: stoppedSigningBy(authority), newestIssuer });
  return { mounting: pods.length, holding };
}

/** Empty when the user may not list them: then the creation time of a pod decides. */
async function requestsOf(init: FindPodsInit): Promise<readonly PodCertificateRequest[]> {
  const { client, signer, namespaces, requests } = init;
  const found: PodCertificateRequest[] = [];
  const fieldSelector = `spec.signerName=${signer.spec.signerName}`;
  try {
    for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
      await listPages({ client, path: requests.collection(namespace), fieldSelector }, (object) => {
        found.push(object as unknown as PodCertificateRequest);
      });
    }
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
  }
  return found;
}
