// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/object/object.ts';
import { withoutManagedFields } from '../../../kube/resource/object.ts';
import type { Resource } from '../../../kube/resource/resource.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { writeSubresource } from '../../../runtime/requests/subresource-write.ts';

/**
 * Writes the status of an object, with the resourceVersion that was read as precondition.
 *
 * @returns the object in the version that was written
 * @throws KubeError KUBE_CONFLICT where it has changed since
 */
export function writeStatus<T extends KubeObject & { readonly status: object }>(
  { client }: Pick<Component, 'client'>,
  resource: Resource,
  object: T,
): Promise<T> {
  return writeSubresource(client, object, {
    path: resource.object(object.metadata, 'status'),
    body: withoutManagedFields(object),
  });
}

/**
 * Whether the status says something new. When the next look at a healthy server is due is no news: a process that begins
 * reads the server first.
 *
 * @param quiet - further members that alone are worth no write, unless there is a reason to show
 */
export function isNews(before: object, after: object, quiet: readonly string[] = []): boolean {
  return !isDeepStrictEqual(shown(before, quiet), shown(after, quiet));
}

function shown(status: object, quiet: readonly string[]): object {
  const hasReason = (status as { reason?: string }).reason !== undefined;
  const dropped = hasReason ? [] : ['nextAttemptAt', ...quiet];
  return Object.fromEntries(Object.entries(status).filter(([name]) => !dropped.includes(name)));
}
