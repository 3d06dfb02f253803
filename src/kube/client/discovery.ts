// SPDX-License-Identifier: Apache-2.0
import type { Client } from './client.ts';
import { KubeError } from './kube-error.ts';

/**
 * @returns those of `versions` in which the API server serves `plural`, in the same order
 * @throws KubeError when the API server does not answer
 */
export async function servedVersions(
  client: Client,
  { group, plural }: { readonly group: string; readonly plural: string },
  versions: readonly string[],
): Promise<readonly string[]> {
  const served: string[] = [];
  for (const version of versions) {
    try {
      const list = await client.request<{ resources?: readonly { name?: string }[] }>({
        method: 'GET',
        path: `/apis/${group}/${version}`,
      });
      if (list.resources?.some(({ name }) => name === plural) === true) served.push(version);
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 404) throw error;
    }
  }
  return served;
}
