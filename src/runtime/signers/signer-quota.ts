// SPDX-License-Identifier: Apache-2.0
import type { SpecProblem } from '../../api/signer/cluster-signer-checks.ts';
import type { AuthorityStatus, ClusterSignerStatus } from '../../api/signer/cluster-signer.ts';
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

/**
 * Characters of PEM that the status of a Signer has room for. A namespace has 32 Signers, and all their anchors fit into
 * one ConfigMap of a mebibyte.
 */
const MAX_ANCHORS_TEXT = 24_576;

/** The CAs of a Signer, the newest first: the anchors of those for which there is no room any more are left out. */
export function anchorsWithinRoom(
  authorities: readonly AuthorityStatus[],
): readonly AuthorityStatus[] {
  let room = MAX_ANCHORS_TEXT;
  return authorities.map(({ anchors, ...rest }) => {
    room -= anchors?.length ?? 0;
    return anchors === undefined || room < 0 ? rest : { ...rest, anchors };
  });
}

/** Which of what a Signer says is kept. */
export interface SignerQuotaOptions {
  /** Anchors in the status: for who writes them, and who copies them. */
  readonly keepsAnchors?: boolean;
}

/** Bounds how many Signers of a namespace are read, and how large they are. */
export interface SignerQuota {
  /**
   * Drops what nothing reads: metadata, and for most components the anchors in the status. Drops the
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
export function createSignerQuota({ keepsAnchors = false }: SignerQuotaOptions = {}): SignerQuota {
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
      const kept = { ...identity, status: reducedStatus(status ?? {}, keepsAnchors) };
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
 * Without anchors, or with as many as a Signer has room for: an owner who exchanges the CA often would fill every
 * component's memory with `ca.crt`. If the rest is too long, only the CAs stay, which the schema bounds; `authority` then
 * writes the conditions again.
 */
function reducedStatus(
  { authorities, ...rest }: ClusterSignerStatus,
  keepsAnchors: boolean,
): ClusterSignerStatus {
  const reduced = keepsAnchors
    ? authorities && anchorsWithinRoom(authorities)
    : authorities?.map(({ anchors: _anchors, ...each }) => each);
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
