// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { createInterner, type Intern } from './interner.ts';

/**
 * Maximum characters of names and values. Ordinary requests have a thousand. An API server accepts
 * 1.5 million from any user who may create a request.
 */
const MAX_KEPT_CHARACTERS = 16 * 1024;

/**
 * Maximum characters of all requests that are cached whole. This exceeds 10,000 ordinary ones, so a
 * rollout of that size causes no second read of a request. As objects they take two to five bytes
 * per character. The memory limit of deploy/deployments.yaml has room for them beside 200,000 lean
 * ones (`make test-flood`).
 */
const MAX_KEPT_TOGETHER = 12 * 1024 * 1024;

/**
 * Keeps requests from exhausting memory. Of large and of very many requests it keeps only the
 * identity and the fields that decide their order.
 */
export interface CacheTransform<T> {
  /**
   * Returns what to keep of a request. A request that is kept whole counts until it is released.
   */
  readonly reduce: (request: T) => T;
  /** Releases what `reduce` returned. */
  readonly release: (kept: T) => void;
  /** Reports whether only the lean form of a request is kept. */
  readonly isReduced: (request: T) => boolean;
}

/**
 * Creates the transform that reduces large requests, and all further ones beyond a total size.
 *
 * @param stays - returns what else to keep of every request. It must be small, and values that many
 * requests share must be one string.
 */
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
  // Written out, since an object made with spread takes twice the memory.
  const own =
    namespace === undefined
      ? { name, uid, resourceVersion, creationTimestamp }
      : { name, uid, resourceVersion, creationTimestamp, namespace: shared(namespace) };
  // Code that reads more than these members loads the whole object first.
  return {
    apiVersion: shared(apiVersion),
    kind: shared(kind),
    metadata: own,
    spec: undefined,
  } as KubeObject as T;
}

/**
 * Counts the characters of all JSON values. A number and the like count as one. Serializing to JSON
 * would cost five times as much.
 */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let sum = 0;
  for (const [key, member] of Object.entries(value)) sum += key.length + charactersOf(member);
  return sum;
}
