// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { CHALLENGE_UID_LABEL, ROUTE_LABELS, ROUTE_NAME_PREFIX } from '#api/acme/route-names.ts';
import { HTTP_ROUTES, INGRESSES } from './routes.ts';

const SELECTOR = Object.entries(ROUTE_LABELS)
  .map(([key, value]) => `${key}=${value}`)
  .join(',');

/**
 * Removes routes without a Challenge. They remain if a process ends between the removal of the two.
 *
 * @param isKnown - reports whether a Challenge of this uid exists
 * @returns names of the removed routes
 * @throws KubeError
 */
export async function sweepRoutes(
  client: Client,
  namespace: string,
  isKnown: (uid: string) => boolean,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const api of [INGRESSES, HTTP_ROUTES]) {
    const { items = [] } = await client
      .request<{ readonly items?: readonly KubeObject[] }>({
        method: 'GET',
        path: api.collection(namespace),
        query: { labelSelector: SELECTOR },
      })
      .catch(nothingThere);
    for (const { metadata } of items) {
      const uid = metadata.labels?.[CHALLENGE_UID_LABEL];
      // A route with another name is not ours, whatever its labels.
      if (uid === undefined || metadata.name !== ROUTE_NAME_PREFIX + uid || isKnown(uid)) continue;
      await client
        .request({ method: 'DELETE', path: api.object({ namespace, name: metadata.name }) })
        .catch(nothingThere);
      removed.push(metadata.name);
    }
  }
  return removed;
}

/** Treats 404 as empty: the route is gone, or its kind is not installed. */
function nothingThere(error: unknown): { readonly items?: readonly KubeObject[] } {
  if (error instanceof KubeError && error.status === 404) return {};
  throw error;
}
