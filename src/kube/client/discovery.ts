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
  const served = await Promise.all(
    versions.map((version) => isServed(client, `/apis/${group}/${version}`, plural)),
  );
  return versions.filter((_, index) => served[index]);
}

async function isServed(client: Client, path: string, plural: string): Promise<boolean> {
  try {
    const list = await client.request<{ resources?: readonly { name?: string }[] }>({
      method: 'GET',
      path,
    });
    return list.resources?.some(({ name }) => name === plural) === true;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return false;
    throw error;
  }
}
