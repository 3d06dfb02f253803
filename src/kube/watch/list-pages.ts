// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../client/client.ts';
import type { StoredObject } from '../resource/object.ts';

/** The collection to list. */
export interface ListInit {
  readonly client: Client;
  readonly path: string;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly accept?: string | undefined;
  /** The limit of a page in bytes. Default: that of the client. */
  readonly maxBytes?: number;
}

/** Takes one object of a list. */
type Take<T> = (object: T) => void;

interface ListPage<T> {
  readonly apiVersion: string;
  /** The items' kind with `List` behind it. */
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly T[] | null;
}

/** The page size of client-go: a page of the largest objects still fits into memory. */
const PAGE = 500;

/**
 * Lists a collection by pages, passing each object to `take`. The caller names the objects' type:
 * the API server sends what its path names.
 *
 * @returns the resourceVersion of the list
 * @throws KubeError, with 410 when the list took longer than the server keeps the revision of its
 *   first page
 */
export async function listPages<T extends StoredObject = StoredObject>(
  { client, path, fieldSelector, labelSelector, accept, maxBytes }: ListInit,
  take: Take<T>,
  signal?: AbortSignal,
): Promise<string> {
  let next: string | undefined;
  for (;;) {
    const query = { limit: PAGE, continue: next, fieldSelector, labelSelector };
    const page = await client.request<ListPage<T>>({
      method: 'GET',
      path,
      query,
      signal,
      ...(accept === undefined ? {} : { accept }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
    });
    for (const item of page.items ?? []) take(withType(item, page));
    next = page.metadata.continue;
    if (next === undefined || next === '') return page.metadata.resourceVersion;
  }
}

/**
 * Requests metadata only, which suffices for the version of a list. A whole object may be a Secret.
 */
const ACCEPT_METADATA =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/**
 * Returns the current resourceVersion of the collection. It is a consistent read, as every list
 * without `resourceVersion`, whatever the server's watch cache holds.
 *
 * @throws KubeError
 */
export async function readVersion(init: ListInit, signal: AbortSignal): Promise<string> {
  const { client, path, fieldSelector, labelSelector } = init;
  const query = { limit: 1, fieldSelector, labelSelector };
  const accept = ACCEPT_METADATA;
  const page = await client.request<ListPage<StoredObject>>({
    method: 'GET',
    path,
    query,
    accept,
    signal,
  });
  return page.metadata.resourceVersion;
}

/** Adds apiVersion and kind, which items of a list lack and every write needs. */
function withType<T extends StoredObject>(item: T, { apiVersion, kind }: ListPage<T>): T {
  const type = { apiVersion, kind: kind.replace(/List$/, '') };
  return { ...item, ...type };
}
