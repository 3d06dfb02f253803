// SPDX-License-Identifier: Apache-2.0
import { recreatingOwner, type Pod } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';

/** A running pod that may hold a leaf of the CA. */
export interface AffectedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The controller that replaces the pod, such as `ReplicaSet/web`. Undefined for a bare pod. */
  readonly remadeBy: string | undefined;
}

/** The CA of a pod's newest leaf, as far as its PodCertificateRequests still show it. */
export type NewestIssuer = 'this' | 'another' | 'unknown';

/** The facts that decide whether a pod may hold a leaf of the CA. */
export interface AffectedPodsInput {
  /** The running pods that mount the signer. */
  readonly pods: readonly Pod[];
  /**
   * Time by which the CA had stopped signing, in milliseconds since the epoch. Undefined while it
   * may sign.
   */
  readonly stoppedBy: number | undefined;
  readonly newestIssuer: (pod: Pod) => NewestIssuer;
}

/**
 * Returns the pods that may hold a leaf of the CA, the oldest first. The newest leaf of a pod
 * decides, because its kubelet keeps nothing older. If it is unknown, the creation time of the pod
 * decides.
 */
export function affectedPods(input: AffectedPodsInput): readonly AffectedPod[] {
  return input.pods
    .filter((pod) => mayHoldLeaf(pod, input))
    .map(describe)
    .sort((a, b) => parseTime(a.createdAt) - parseTime(b.createdAt) || (a.uid < b.uid ? -1 : 1));
}

function mayHoldLeaf(pod: Pod, { stoppedBy, newestIssuer }: AffectedPodsInput): boolean {
  const issuer = newestIssuer(pod);
  if (issuer !== 'unknown') return issuer === 'this';
  return stoppedBy === undefined || parseTime(pod.metadata.creationTimestamp) <= stoppedBy;
}

function describe(pod: Pod): AffectedPod {
  const { metadata, spec } = pod;
  const owner = recreatingOwner(pod);
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    node: spec.nodeName ?? '',
    createdAt: metadata.creationTimestamp,
    remadeBy: owner === undefined ? undefined : `${owner.kind}/${owner.name}`,
  };
}
