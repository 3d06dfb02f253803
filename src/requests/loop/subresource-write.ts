// SPDX-License-Identifier: Apache-2.0
import {
  ACCEPT_METADATA,
  asWritten,
  readPartialObjectMetadata,
  type KubeObject,
} from '#api/object/object.ts';
import type { Client } from '#kube/client/client.ts';

/** One PUT to a subresource: `/status` or `/approval`. */
export interface SubresourceWrite {
  readonly path: string;
  /**
   * Contains the resourceVersion that was read, so the API server rejects it after any other write.
   */
  readonly body: object;
  /** Media type of `body`. Default: JSON. */
  readonly contentType?: string | undefined;
}

/**
 * Writes a subresource, with the resourceVersion as precondition. Reads only the metadata of the
 * response.
 *
 * @param written - the whole object as the body describes it
 * @returns `written` in the version of the API server's response
 * @throws KubeError KUBE_CONFLICT if the object has changed since it was read
 */
export async function writeSubresource<T extends KubeObject>(
  client: Client,
  written: T,
  { path, body, contentType }: SubresourceWrite,
): Promise<T> {
  const answer = await client.request<Pick<KubeObject, 'metadata'>>({
    method: 'PUT',
    path,
    body,
    ...(contentType === undefined ? {} : { contentType }),
    accept: ACCEPT_METADATA,
    read: readPartialObjectMetadata,
  });
  return asWritten(written, answer);
}
