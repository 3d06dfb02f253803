// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../client/client.ts';
import { ignoreNotReadable } from '../client/kube-error.ts';
import type { Resource } from '../resource/resource.ts';
import { listPages, type ListInit } from './list-pages.ts';
import type { StoredObject } from '../resource/object.ts';

/** The objects of a kind to list. Without a namespace, those of all namespaces. */
export interface ListSelection<T> extends Omit<ListInit, 'client' | 'path'> {
  readonly namespace?: string | undefined;
  /** Selects the objects to keep. The others of a page are dropped with it, to save memory. */
  readonly keep?: (object: T) => boolean;
}

/**
 * Returns the objects of a kind.
 *
 * @throws KubeError of {@link listPages}
 */
export async function listObjects<T>(
  client: Client,
  kind: Resource,
  { namespace, keep = () => true, ...selectors }: ListSelection<T> = {},
): Promise<readonly T[]> {
  const found: T[] = [];
  const init = { client, path: kind.collection(namespace), ...selectors };
  await listPages<T & StoredObject>(init, (object) => {
    if (keep(object)) found.push(object);
  });
  return found;
}

/**
 * Returns the objects of a kind. Empty if the user may not list them, or if the API server does not
 * serve the kind.
 *
 * @throws KubeError for every other error
 */
export async function listReadable<T>(
  client: Client,
  kind: Resource,
  selection: ListSelection<T> = {},
): Promise<readonly T[]> {
  return (await listObjects(client, kind, selection).catch(ignoreNotReadable)) ?? [];
}
