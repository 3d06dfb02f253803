// SPDX-License-Identifier: Apache-2.0
import type { SpecProblem } from '../../api/signer/cluster-signer-checks.ts';
import type { KubeObject, ObjectMeta } from '../../api/object/object.ts';

/**
 * Each Signer takes watches of every component, and a team has a few CAs. Whoever may write Signers in a
 * namespace must not take what everybody's are served with.
 */
const MAX_SIGNERS_PER_NAMESPACE = 32;
/** Of a spec as JSON: eight times that of thirty rules. The schema by itself lets half a mebibyte through. */
const MAX_SIGNER_TEXT = 65_536;

/** What is kept of Signers, however many and large they are made. */
export interface SignerQuota {
  /** Without its spec where that is too long, or where its namespace has no room for one more. */
  readonly reduce: (object: KubeObject) => KubeObject;
  /** @returns why a Signer of which no spec was kept is not served; undefined: it has its room now */
  readonly admit: (key: string, object: KubeObject) => SpecProblem | undefined;
  readonly release: (key: string) => void;
}

/**
 * Those that are heard of first have the room: another one is served once some have gone and it is
 * written anew.
 */
export function createSignerQuota(): SignerQuota {
  const inside = new Map<string, Set<string>>();
  const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

  function hasRoom(key: string): boolean {
    const keys = inside.get(namespaceOf(key));
    return keys === undefined || keys.has(key) || keys.size < MAX_SIGNERS_PER_NAMESPACE;
  }

  function leave(key: string): void {
    const keys = inside.get(namespaceOf(key));
    keys?.delete(key);
    if (keys?.size === 0) inside.delete(namespaceOf(key));
  }

  return {
    release: leave,
    reduce: (object) => {
      const { apiVersion, kind, metadata, spec, ...rest } = object as KubeObject & {
        readonly spec?: unknown;
      };
      const { namespace = '', name } = metadata;
      const kept = { apiVersion, kind, metadata: leanMetadata(metadata) };
      const isKept = hasRoom(`${namespace}/${name}`) && !isTooLong(spec);
      return isKept ? { ...rest, ...kept, spec } : kept;
    },
    admit: (key, object) => {
      if ('spec' in object) {
        const namespace = namespaceOf(key);
        inside.set(namespace, (inside.get(namespace) ?? new Set()).add(key));
        return undefined;
      }
      const isFull = !hasRoom(key);
      leave(key);
      return { path: 'spec', message: isFull ? CROWDED : TOO_LONG };
    },
  };
}

const CROWDED = `is not read: the namespace has ${MAX_SIGNERS_PER_NAMESPACE} Signers already; delete some, then change this one`;
const TOO_LONG = `has more than ${MAX_SIGNER_TEXT} characters; write fewer and shorter rules`;

/** Who it is, and which: annotations, labels and managed fields may have a quarter of a mebibyte each. */
function leanMetadata(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = metadata;
  return {
    ...{ name, uid, resourceVersion, creationTimestamp },
    ...(namespace === undefined ? {} : { namespace }),
    ...(generation === undefined ? {} : { generation }),
  };
}

function isTooLong(spec: unknown): boolean {
  return spec !== undefined && JSON.stringify(spec).length > MAX_SIGNER_TEXT;
}
