// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { StoredObject } from '../../kube/resource/object.ts';
import { resource, type ResourceInit } from '../../kube/resource/resource.ts';
import { listPages } from '../../kube/watch/list-pages.ts';
import { LABEL_NAME } from '../../manifests/names.ts';
import type { Seen } from '../finding.ts';

/** Selects the objects of an installation. */
export const OURS = `${LABEL_NAME}=countersign`;

/** What to list, and whose. */
export interface Listing extends ResourceInit {
  readonly namespace?: string;
  readonly labelSelector?: string;
}

/**
 * Reads what the user may not be allowed to read.
 *
 * @param permission - what it takes: `list nodes`
 * @throws KubeError for every other answer
 */
async function see<T>(permission: string, read: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return { lacks: permission };
    throw error;
  }
}

/** `list leases.coordination.k8s.io in namespace x` */
function listPermission({ group, plural, namespace }: Listing): string {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  return `list ${plural}${group === '' ? '' : `.${group}`}${where}`;
}

/** What is kept of an object. */
export type Take<T extends StoredObject, R> = (object: T) => readonly R[];

/**
 * Lists objects and keeps what `take` makes of each, so that whole objects need no memory.
 *
 * @returns nothing where the API server does not serve the kind
 */
export function seeAll<T extends StoredObject, R>(
  client: Client,
  listing: Listing,
  take: Take<T, R>,
): Promise<Seen<readonly R[]>> {
  return see(listPermission(listing), async () => {
    const taken: R[] = [];
    const path = resource(listing).collection(listing.namespace);
    const { labelSelector } = listing;
    const init = { client, path, ...(labelSelector === undefined ? {} : { labelSelector }) };
    try {
      await listPages(init, (object) => {
        taken.push(...take(object as T));
      });
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 404) throw error;
    }
    return taken;
  });
}

/** What was seen, made into something else. */
export function mapSeen<T, R>(seen: Seen<T>, make: (value: T) => R): Seen<R> {
  return 'value' in seen ? { value: make(seen.value) } : seen;
}
