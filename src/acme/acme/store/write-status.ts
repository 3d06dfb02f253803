// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '#api/object/object.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Component } from '#component/contract.ts';
import { writeSubresource } from '#requests/loop/subresource-write.ts';

/**
 * Writes the status of an object, with the resourceVersion that was read as precondition.
 *
 * @returns the written version of the object
 * @throws KubeError KUBE_CONFLICT if the object changed since
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
 * Reports whether the status is worth a write. A new `nextAttemptAt` without a reason is not: a new
 * process reads the server first.
 *
 * @param quiet - other members that are not worth a write without a reason
 */
export function statusChanged(
  before: object,
  after: object,
  quiet: readonly string[] = [],
): boolean {
  return !isDeepStrictEqual(shown(before, quiet), shown(after, quiet));
}

function shown(status: object, quiet: readonly string[]): object {
  const hasReason = 'reason' in status && status.reason !== undefined;
  const dropped = hasReason ? [] : ['nextAttemptAt', ...quiet];
  return Object.fromEntries(Object.entries(status).filter(([name]) => !dropped.includes(name)));
}
