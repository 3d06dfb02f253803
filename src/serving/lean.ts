// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object.ts';

/**
 * Of JSON. Ordinary requests have three thousand; an API server takes 1.5 million, from everybody
 * who may make one.
 */
export const MAX_KEPT_CHARACTERS = 16 * 1024;

/** Of one signer name. More of them wait for an administrator, or are an attack. */
export const MAX_KEPT_WHOLE = 5_000;

/**
 * Keeps requests from filling memory: of large ones, and of very many, only who they are, and what
 * says when their turn is.
 */
export interface Leaner<T> {
  /** @param count - how many are kept already */
  readonly lean: (request: T, count: number) => T;
  /** Whether this is all that is left of a request. */
  readonly isLean: (request: T) => boolean;
}

/** @param stays - what besides stays of every request; small */
export function createLeaner<T extends KubeObject>(stays: (request: T) => object): Leaner<T> {
  const made = new WeakSet<T>();
  return {
    lean: (request, count) => {
      if (count < MAX_KEPT_WHOLE && JSON.stringify(request).length <= MAX_KEPT_CHARACTERS) {
        return request;
      }
      const { apiVersion, kind, metadata } = request;
      const { namespace, name, uid, resourceVersion, creationTimestamp } = metadata;
      const identity = { name, uid, resourceVersion, creationTimestamp };
      const lean = {
        apiVersion,
        kind,
        metadata: namespace === undefined ? identity : { ...identity, namespace },
        ...stays(request),
      } as T;
      made.add(lean);
      return lean;
    },
    isLean: (request) => made.has(request),
  };
}
