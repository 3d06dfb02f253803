// SPDX-License-Identifier: Apache-2.0
import type { SpecProblem } from '../../api/signer/cluster-signer-checks.ts';
import type { ClusterSignerStatus } from '../../api/signer/cluster-signer.ts';
import type { KubeObject, ObjectMeta } from '../../api/object/object.ts';

/**
 * Each Signer costs every component some watches, and a namespace needs few CAs. The users of one namespace
 * must not exhaust what all share.
 */
const MAX_SIGNERS_PER_NAMESPACE = 32;
/** Characters of a spec as JSON: eight times a spec of thirty rules. The schema alone allows half a mebibyte. */
const MAX_SIGNER_TEXT = 65_536;
/** Characters of a status as JSON, without its CAs: four conditions with messages of the greatest length. */
const MAX_STATUS_TEXT = 4 * 32_768 + 8_192;

/** Bounds how many Signers of a namespace are read, and how large they are. */
export interface SignerQuota {
  /**
   * Drops what nothing reads: metadata, and the anchors that earlier versions wrote into the status. Drops the
   * spec if it is too long, and spec and status if the namespace has reached its quota.
   */
  readonly reduce: (object: KubeObject) => KubeObject;
  /**
   * Counts the Signer `namespace/name` as `reduce` left it.
   *
   * @returns why it is not served; undefined if it is within the quota
   */
  readonly admit: (key: string, object: KubeObject) => SpecProblem | undefined;
  /** The Signer is deleted and counts no longer. */
  readonly release: (key: string) => void;
}

/**
 * The Signers that are listed first are within the quota. Another one is served after some are deleted and it
 * is changed.
 */
export function createSignerQuota(): SignerQuota {
  const counted = new Map<string, Set<string>>();
  const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

  function hasRoom(key: string): boolean {
    const keys = counted.get(namespaceOf(key));
    return keys === undefined || keys.has(key) || keys.size < MAX_SIGNERS_PER_NAMESPACE;
  }

  function release(key: string): void {
    const keys = counted.get(namespaceOf(key));
    keys?.delete(key);
    if (keys?.size === 0) counted.delete(namespaceOf(key));
  }

  return {
    release,
    reduce: (object) => {
      const { apiVersion, kind, metadata, spec, status } = object as Readonly<Partial<WireSigner>> &
        KubeObject;
      const { namespace = '', name } = metadata;
      const identity = { apiVersion, kind, metadata: identityOf(metadata) };
      if (!hasRoom(`${namespace}/${name}`)) return identity;
      // Also if the spec is too long: authority writes the whole status and must not forget the CAs.
      const kept = { ...identity, status: reducedStatus(status ?? {}) };
      return isLonger(spec, MAX_SIGNER_TEXT) ? kept : { ...kept, spec };
    },
    admit: (key, object) => {
      if (!('status' in object)) {
        release(key);
        return { path: 'spec', message: OVER_QUOTA };
      }
      const namespace = namespaceOf(key);
      counted.set(namespace, (counted.get(namespace) ?? new Set()).add(key));
      return 'spec' in object ? undefined : { path: 'spec', message: TOO_LONG };
    },
  };
}

const OVER_QUOTA = `is ignored: the namespace already has ${MAX_SIGNERS_PER_NAMESPACE} Signers, the most that are served; delete one, then change this one`;
const TOO_LONG = `has more than ${MAX_SIGNER_TEXT} characters as JSON; use fewer or shorter rules`;

/** A Signer as it is listed: nothing of it is checked yet. */
interface WireSigner {
  readonly spec: unknown;
  readonly status: ClusterSignerStatus;
}

/**
 * Without anchors: an owner who exchanges the CA often would fill every component's memory with `ca.crt`. If the
 * rest is too long, only the CAs stay, which the schema bounds; `authority` then writes the conditions again.
 */
function reducedStatus({ authorities, ...rest }: ClusterSignerStatus): ClusterSignerStatus {
  const reduced = authorities?.map(({ anchors: _anchors, ...each }) => each);
  const kept = reduced === undefined ? {} : { authorities: reduced };
  return isLonger(rest, MAX_STATUS_TEXT) ? kept : { ...rest, ...kept };
}

/** Only the identity: annotations, labels and managed fields can have a quarter of a mebibyte each. */
function identityOf(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = metadata;
  return {
    ...{ name, uid, resourceVersion, creationTimestamp },
    ...(namespace === undefined ? {} : { namespace }),
    ...(generation === undefined ? {} : { generation }),
  };
}

function isLonger(value: unknown, most: number): boolean {
  return value !== undefined && JSON.stringify(value).length > most;
}
