// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import type { Service } from '#api/object/service.ts';
import { isTerminal, type PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { readsPods } from '#api/signer/cluster-signer.ts';
import type { PodEvidence } from '#requests/pcr-issuer/evidence/evidence.ts';
import { messageOf } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError, ignoreNotFound } from '#kube/client/kube-error.ts';
import { PODS, SERVICES } from '#kube/resource/core-v1.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import type { SignerView } from '../signer-view.ts';

/**
 * Reads the evidence for the names of a waiting request with the user's permissions.
 *
 * @returns the reason as text if the user may not read it, and undefined if the signer needs none
 * @throws KubeError other than 403
 */
export async function readEvidence(
  client: Client,
  request: PodCertificateRequest,
  { signer }: SignerView,
): Promise<PodEvidence | string | undefined> {
  if (signer === undefined || !readsPods(signer.spec) || isTerminal(request)) return undefined;
  const { namespace = '' } = request.metadata;
  const path = PODS.object({ namespace, name: request.spec.podName });
  try {
    const pod = await client.request<Pod>({ method: 'GET', path }).catch(ignoreNotFound);
    if (signer.spec.pods?.services === undefined) return { pod, services: undefined };
    return { pod, services: await listObjects<Service>(client, SERVICES, { namespace }) };
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return messageOf(error);
    throw error;
  }
}
