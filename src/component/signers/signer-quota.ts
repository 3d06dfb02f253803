// SPDX-License-Identifier: Apache-2.0
import type { AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import type { SpecProblem } from '#api/signer/cluster-signer-checks.ts';
import type { AuthorityStatus, ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import type { KubeObject, ObjectMeta } from '#api/object/object.ts';
import { NamespaceCount } from './namespace-count.ts';

/**
 * The limit of Signers in a namespace. Each Signer costs every component some watches, and a
 * namespace needs few CAs. The users of one namespace must not exhaust the common capacity.
 */
export const MAX_SIGNERS_PER_NAMESPACE = 32;
/**
 * The limit of a spec, in characters as JSON: eight times a spec of thirty rules. The schema alone
 * allows half a mebibyte.
 */
export const MAX_SIGNER_TEXT = 65_536;
/**
 * The limit of a status without its CAs, in characters as JSON: four conditions with messages of
 * the greatest length.
 */
export const MAX_STATUS_TEXT = 4 * 32_768 + 8_192;

/**
 * The limit of anchors in the status of a Signer, in characters of PEM. A namespace has 32 Signers,
 * and all their anchors fit into one ConfigMap of a mebibyte.
 */
const MAX_ANCHORS_TEXT = 24_576;

/** Returns the CAs of a Signer, the newest first, without the anchors that exceed the limit. */
export function anchorsWithinRoom(
  authorities: readonly AuthorityStatus[],
): readonly AuthorityStatus[] {
  let room = MAX_ANCHORS_TEXT;
  return authorities.map(({ anchors, ...rest }) => {
    room -= anchors?.length ?? 0;
    return anchors === undefined || room < 0 ? rest : { ...rest, anchors };
  });
}

/** Characters of an annotation that is kept: a time of RFC 3339 has half of them. */
const MAX_ANNOTATION = 64;

/** The parts of a Signer to keep, and the name of its kind. */
export interface SignerQuotaOptions {
  /** Default: `Signers`. */
  readonly kinds?: 'Signers' | 'AcmeSigners';
  /** True for components that write or copy the anchors in the status. */
  readonly keepsAnchors?: boolean;
  /** The annotations that components read. Default: none. */
  readonly annotations?: readonly string[];
}

/** Bounds the number and the size of a namespace's Signers. */
export interface SignerQuota {
  /**
   * Drops unused parts: metadata, and for most components the anchors in the status. Drops the spec
   * if it is too long, and spec and status if the namespace has reached its quota.
   */
  readonly reduce: (object: KubeObject) => KubeObject;
  /**
   * Counts the Signer `namespace/name` as `reduce` left it.
   *
   * @returns why it is not served, or undefined if it is within the quota
   */
  readonly admit: (key: string, object: KubeObject) => SpecProblem | undefined;
  /** Stops counting a deleted Signer. */
  readonly release: (key: string) => void;
}

/**
 * Creates a quota. The first listed Signers are within it. Another one is served after some are
 * deleted and it is changed.
 */
export function createSignerQuota({
  kinds = 'Signers',
  keepsAnchors = false,
  annotations = [],
}: SignerQuotaOptions = {}): SignerQuota {
  const counted = new NamespaceCount(MAX_SIGNERS_PER_NAMESPACE);
  return {
    release: (key) => {
      counted.remove(key);
    },
    reduce: (object) => {
      // The CRD's schema has checked the object.
      const { apiVersion, kind, metadata, spec, status } = object as Readonly<Partial<WireSigner>> &
        KubeObject;
      const { namespace = '', name } = metadata;
      const identity = { apiVersion, kind, metadata: annotatedIdentityOf(metadata, annotations) };
      if (!counted.hasRoom(`${namespace}/${name}`)) return identity;
      // Kept even if the spec is too long: authority writes the whole status and must not forget
      // the CAs.
      const kept = { ...identity, status: reducedStatus(status ?? {}, keepsAnchors) };
      const isLeftOut = spec === undefined || isLonger(spec, MAX_SIGNER_TEXT);
      return isLeftOut ? kept : { ...kept, spec };
    },
    admit: (key, object) => {
      if (!('status' in object)) {
        counted.remove(key);
        return { path: 'spec', message: overQuota(kinds) };
      }
      counted.add(key);
      return 'spec' in object ? undefined : { path: 'spec', message: TOO_LONG };
    },
  };
}

function overQuota(kinds: string): string {
  return `is ignored: the namespace already has ${MAX_SIGNERS_PER_NAMESPACE} ${kinds}, the most that are served; delete one, then change this one`;
}

const TOO_LONG = `has more than ${MAX_SIGNER_TEXT} characters as JSON; use fewer or shorter rules`;

/** A Signer as the API server lists it, unchecked. */
interface WireSigner {
  readonly spec: unknown;
  readonly status: ClusterSignerStatus & Pick<AcmeSignerStatus, 'account'>;
}

/**
 * Drops the anchors, or those beyond the limit: an owner who replaces the CA often would fill every
 * component's memory with `ca.crt`. If the rest is too long, only the CAs and the account stay,
 * which the schema bounds. `authority` or `acme` then writes the conditions again.
 */
function reducedStatus(
  { authorities, account, ...rest }: WireSigner['status'],
  keepsAnchors: boolean,
): WireSigner['status'] {
  const reduced = keepsAnchors
    ? authorities && anchorsWithinRoom(authorities)
    : authorities?.map(({ anchors: _anchors, ...each }) => each);
  const kept = {
    ...(reduced === undefined ? {} : { authorities: reduced }),
    ...(account === undefined ? {} : { account }),
  };
  return isLonger(rest, MAX_STATUS_TEXT) ? kept : { ...rest, ...kept };
}

/**
 * Returns the identity without annotations, labels and managed fields, which can have a quarter of
 * a mebibyte each.
 */
export function identityOf(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = metadata;
  const { deletionTimestamp } = metadata;
  return {
    name,
    uid,
    resourceVersion,
    creationTimestamp,
    ...(namespace === undefined ? {} : { namespace }),
    ...(generation === undefined ? {} : { generation }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
}

/** Returns the identity and these annotations, without those that are too long. */
function annotatedIdentityOf(metadata: ObjectMeta, annotations: readonly string[]): ObjectMeta {
  const kept = annotations.flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined || value.length > MAX_ANNOTATION ? [] : [[key, value] as const];
  });
  const identity = identityOf(metadata);
  return kept.length === 0 ? identity : { ...identity, annotations: Object.fromEntries(kept) };
}

/** Reports whether a value has more characters as JSON. */
export function isLonger(value: unknown, most: number): boolean {
  return value !== undefined && JSON.stringify(value).length > most;
}
