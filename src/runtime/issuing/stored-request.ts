// SPDX-License-Identifier: Apache-2.0
/** The request as the API server has it: read and written past the cache. */
import type { KubeObject } from '../../api/object/object.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { writeSubresource } from '../requests/subresource-write.ts';
import type { Attempt } from './deliverable.ts';
import type { IssuedChain } from './issuing-ca.ts';
import type { RequestKindInit } from './request-kind.ts';

type AnyInit<T> = RequestKindInit<T, never, IssuedChain>;

/**
 * Reads the request from the API server; the cache may be behind our own write.
 *
 * @throws KubeError
 */
export function look<T extends KubeObject>(
  init: Pick<AnyInit<T>, 'component'>,
  { request, via }: Pick<Attempt<T, never>, 'request' | 'via'>,
): Promise<T | undefined> {
  return read(init, via.object(request.metadata));
}

/**
 * The request at this path; undefined where there is none.
 *
 * @throws KubeError
 */
export function read<T extends KubeObject>(
  { component }: Pick<AnyInit<T>, 'component'>,
  path: string,
): Promise<T | undefined> {
  return component.client.request<T>({ method: 'GET', path }).catch(ignoreNotFound);
}

/**
 * Writes its status, with the resourceVersion as precondition.
 *
 * @returns the request as the API server stored it
 * @throws KubeError
 */
export function put<T extends KubeObject>(
  { component, bodyOf }: Pick<AnyInit<T>, 'component' | 'bodyOf'>,
  request: T,
  via: Resource,
): Promise<T> {
  const path = via.object(request.metadata, 'status');
  return writeSubresource(component.client, request, { path, ...bodyOf(request) });
}
