// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { hasTrueCondition } from '#api/request/conditions.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { until } from '../../../cluster/until.ts';

const WAIT_MS = 120_000;

/** The requests that a pod's kubelet made. */
export async function requestsOf(
  cluster: Cluster,
  namespace: string,
  pod: string,
): Promise<readonly PodCertificateRequest[]> {
  const { stdout } = await cluster.kubectl([
    'get',
    'podcertificaterequests',
    '-n',
    namespace,
    '-o',
    'json',
  ]);
  const { items } = JSON.parse(stdout) as { items: readonly PodCertificateRequest[] };
  return items.filter(({ spec }) => spec.podName === pod);
}

/** The request of a pod once it has the condition. */
export function waitForRequest(
  cluster: Cluster,
  namespace: string,
  pod: string,
  condition: 'Issued' | 'Denied' | 'Failed',
): Promise<PodCertificateRequest> {
  return until(`the request of ${namespace}/${pod} is ${condition}`, WAIT_MS, async () => {
    const requests = await requestsOf(cluster, namespace, pod);
    return requests.find(({ status }) => hasTrueCondition(status?.conditions, condition));
  });
}
