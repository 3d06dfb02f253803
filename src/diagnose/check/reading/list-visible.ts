// SPDX-License-Identifier: Apache-2.0
import {
  certificatesResourceIfServed,
  type CertificatesPlural,
} from '#component/certificates-resources.ts';
import type { Client } from '#kube/client/client.ts';
import { DISCOVERY_ROLE } from '#kube/client/discovery.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { resource, type ResourceInit } from '#kube/resource/resource.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import { LABEL_NAME } from '#kube/resource/labels.ts';
import type { ReadResult } from '../finding.ts';

/** Selects the objects of an installation. */
export const MANAGED = `${LABEL_NAME}=countersign`;

/** The resource to list, with its namespace and selectors. */
export interface Listing extends ResourceInit {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/**
 * Reads a value that the user may lack permission for.
 *
 * @param permission - the permission, such as `list nodes`
 * @throws KubeError for every error but 403
 */
export async function see<T>(permission: string, read: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return { lacks: permission };
    throw error;
  }
}

/** Returns the permission for the discovery of an API group. */
export function discoveryPermission(group: string): string {
  return `get /apis/${group}/* (ClusterRole ${DISCOVERY_ROLE})`;
}

/** `list leases.coordination.k8s.io in namespace x` */
function listPermission({ group, plural, namespace }: Listing): string {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  return `list ${plural}${group === '' ? '' : `.${group}`}${where}`;
}

/** Extracts the values to keep from an object. */
export type Take<T extends StoredObject, R> = (object: T) => readonly R[];

/**
 * Lists objects and keeps only what `take` returns for each, to save memory.
 *
 * @returns an empty list if the API server does not serve the kind
 */
export function listVisible<T extends StoredObject, R>(
  client: Client,
  listing: Listing,
  take: Take<T, R>,
): Promise<ReadResult<readonly R[]>> {
  return see(listPermission(listing), async () => {
    const taken: R[] = [];
    const path = resource(listing).collection(listing.namespace);
    const { labelSelector, fieldSelector } = listing;
    await listPages<T>({ client, path, labelSelector, fieldSelector }, (object) => {
      taken.push(...take(object));
    }).catch(ignoreNotFound);
    return taken;
  });
}

/**
 * Lists a kind of certificates.k8s.io in its newest version, as {@link listVisible} does.
 *
 * @returns an empty list if the API server does not serve the kind
 */
export async function listVisibleVersion<T extends StoredObject, R>(
  client: Client,
  plural: CertificatesPlural,
  take: Take<T, R>,
): Promise<ReadResult<readonly R[]>> {
  const kind = await see(discoveryPermission('certificates.k8s.io'), () =>
    certificatesResourceIfServed(client, plural),
  );
  if (!('value' in kind)) return kind;
  return kind.value === undefined ? { value: [] } : listVisible(client, kind.value, take);
}

/** Maps the value of a successful read. */
export function mapSeen<T, R>(seen: ReadResult<T>, make: (value: T) => R): ReadResult<R> {
  return 'value' in seen ? { value: make(seen.value) } : seen;
}
