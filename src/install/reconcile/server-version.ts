// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { DesiredInstallation, Refusal } from './desired.ts';

/**
 * Rejects an API server that is too old for the desired installation.
 *
 * @throws KubeError
 */
export async function refuseServer(
  client: Client,
  { minKubernetesMinor }: Pick<DesiredInstallation, 'minKubernetesMinor'>,
): Promise<Refusal | undefined> {
  const { major = '', minor = '' } = await client.request<{ major?: string; minor?: string }>({
    method: 'GET',
    path: '/version',
  });
  const [majorNumber, minorNumber] = [major, minor].map((each) => parseInt(each, 10));
  if (majorNumber === 1 && (minorNumber ?? 0) >= minKubernetesMinor) return undefined;
  return {
    reason: 'UnsupportedKubernetes',
    message: `the API server is Kubernetes ${major}.${minor}; 1.${minKubernetesMinor} is the oldest that works`,
  };
}
