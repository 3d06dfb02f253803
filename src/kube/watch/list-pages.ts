// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../client/client.ts';
import type { StoredObject } from '../resource/object.ts';

/** Which collection to list. */
export interface ListInit {
  readonly client: Client;
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  readonly accept?: string;
}

interface ListPage {
  readonly apiVersion: string;
  /** The items' kind with `List` behind it. */
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly StoredObject[] | null;
}

/** As client-go: a page of the largest objects still fits into memory. */
const PAGE = 500;

/**
 * Lists a collection by pages, passing each object to `take`.
 *
 * @returns the resourceVersion of the list
 * @throws KubeError; 410 when the list took longer than the server keeps the revision of its first page
 */
export async function listPages(
  { client, path, fieldSelector, labelSelector, accept }: ListInit,
  take: (object: StoredObject) => void,
  signal?: AbortSignal,
): Promise<string> {
  let next: string | undefined;
  for (;;) {
    const query = { limit: PAGE, continue: next, fieldSelector, labelSelector };
    const page = await client.request<ListPage>({
      ...{ method: 'GET', path, query, signal },
      ...(accept === undefined ? {} : { accept }),
    });
    for (const item of page.items ?? []) take(withType(item, page));
    next = page.metadata.continue;
    if (next === undefined || next === '') return page.metadata.resourceVersion;
  }
}

/** Names and metadata are enough to see the version of a list, and less than an object that may be a Secret. */
const ACCEPT_METADATA =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/**
 * The resourceVersion that the collection has now: of a consistent read, as a list without `resourceVersion` is,
 * whatever a watch cache of the server holds.
 *
 * @throws KubeError
 */
export async function readVersion(init: ListInit, signal: AbortSignal): Promise<string> {
  const { client, path, fieldSelector, labelSelector } = init;
  const query = { limit: 1, fieldSelector, labelSelector };
  const accept = ACCEPT_METADATA;
  const page = await client.request<ListPage>({ method: 'GET', path, query, accept, signal });
  return page.metadata.resourceVersion;
}

/** Items of a list lack apiVersion and kind, which every write needs. */
function withType(item: StoredObject, { apiVersion, kind }: ListPage): StoredObject {
  const type = { apiVersion, kind: kind.replace(/List$/, '') };
  return { ...item, ...type };
}
