// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import { createInterner, type Intern } from './interner.ts';

/**
 * Of names and values. Ordinary requests have a thousand; an API server takes 1.5 million, from
 * everybody who may make one.
 */
const MAX_KEPT_CHARACTERS = 16 * 1024;

/**
 * Of all requests that are kept whole, which is more than 10,000 ordinary ones: a rollout of that size
 * costs no second read of a request. As objects they take two to five bytes a character, which the
 * memory limit of deploy/deployments.yaml has room for beside 200,000 lean ones (`make test-flood`).
 */
const MAX_KEPT_TOGETHER = 12 * 1024 * 1024;

/**
 * Keeps requests from filling memory: of large ones, and of very many, only who they are, and what
 * says when their turn is.
 */
export interface CacheTransform<T> {
  /** What shall be kept of a request. Kept whole it counts until it is let go. */
  readonly reduce: (request: T) => T;
  /** What `lean` returned is kept no more. */
  readonly release: (kept: T) => void;
  /** Whether this is all that is left of a request. */
  readonly isReduced: (request: T) => boolean;
}

/** @param stays - what besides stays of every request; small, and of what many have in common one */
export function createCacheTransform<T extends KubeObject>(
  stays: (request: T, shared: Intern) => object,
): CacheTransform<T> {
  const shared = createInterner();
  const made = new WeakSet<T>();
  const sizes = new WeakMap<T, number>();
  let together = 0;
  return {
    reduce: (request) => {
      const size = charactersOf(request);
      if (size <= MAX_KEPT_CHARACTERS && together + size <= MAX_KEPT_TOGETHER) {
        together += size;
        sizes.set(request, size);
        return request;
      }
      const lean = Object.assign(identityOf(request, shared), stays(request, shared));
      made.add(lean);
      return lean;
    },
    release: (kept) => {
      together -= sizes.get(kept) ?? 0;
      sizes.delete(kept);
    },
    isReduced: (request) => made.has(request),
  };
}

function identityOf<T extends KubeObject>({ apiVersion, kind, metadata }: T, shared: Intern): T {
  const { namespace, name, uid, resourceVersion } = metadata;
  const creationTimestamp = shared(metadata.creationTimestamp);
  // Written out: an object that is spread takes twice the room.
  const own =
    namespace === undefined
      ? { name, uid, resourceVersion, creationTimestamp }
      : { name, uid, resourceVersion, creationTimestamp, namespace: shared(namespace) };
  return {
    apiVersion: shared(apiVersion),
    kind: shared(kind),
    metadata: own,
    spec: undefined,
  } as KubeObject as T;
}

/** Of what JSON can say: numbers and the like count as one. To write JSON would cost five times as much. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let sum = 0;
  for (const [key, member] of Object.entries(value)) sum += key.length + charactersOf(member);
  return sum;
}
