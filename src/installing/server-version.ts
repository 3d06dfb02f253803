// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../kube/client/client.ts';
import type { Refusal } from './desired.ts';

/** The first minor version of Kubernetes 1 that serves PodCertificateRequests in a version that we know. */
const LEAST_MINOR = 35;

/**
 * Refuses an API server that is too old.
 *
 * @throws KubeError
 */
export async function refuseServer(client: Client): Promise<Refusal | undefined> {
  const { major = '', minor = '' } = await client.request<{ major?: string; minor?: string }>({
    method: 'GET',
    path: '/version',
  });
  const [majorNumber, minorNumber] = [major, minor].map((each) => parseInt(each, 10));
  if (majorNumber === 1 && (minorNumber ?? 0) >= LEAST_MINOR) return undefined;
  return {
    reason: 'UnsupportedKubernetes',
    message: `the API server is Kubernetes ${major}.${minor}; 1.${LEAST_MINOR} is the oldest that works`,
  };
}
