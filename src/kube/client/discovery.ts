// SPDX-License-Identifier: Apache-2.0
import type { Client } from './client.ts';
import type { ResourceInit } from '../resource/resource.ts';
import { KubeError } from './kube-error.ts';

/** Role of each authenticated user, unless an administrator has removed its binding. */
export const DISCOVERY_ROLE = 'system:discovery';

/**
 * Reads which versions of a kind the API server serves.
 *
 * @returns those of `versions` in which the API server serves `plural`, in the same order
 * @throws KubeError when the API server does not answer, or forbids API discovery
 */
export async function servedVersions(
  client: Client,
  { group, plural }: { readonly group: string; readonly plural: string },
  versions: readonly string[],
): Promise<readonly string[]> {
  const served = await Promise.all(
    versions.map((version) => isServed(client, { group, plural, version })),
  );
  return versions.filter((_, index) => served[index]);
}

async function isServed(
  client: Client,
  { group, plural, version }: ResourceInit,
): Promise<boolean> {
  const path = `/apis/${group}/${version}`;
  try {
    const list = await client.request<{ resources?: readonly { name?: string }[] }>({
      method: 'GET',
      path,
    });
    return list.resources?.some(({ name }) => name === plural) === true;
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
    if (error.status === 404) return false;
    const message = `you may not read the API discovery of ${group}, so it is not known whether ${plural} are served; ClusterRole ${DISCOVERY_ROLE} grants it`;
    const body = { reason: error.reason, message };
    throw new KubeError({ status: 403, what: `GET ${path}`, body, cause: error });
  }
}
