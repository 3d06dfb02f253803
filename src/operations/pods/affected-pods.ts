// SPDX-License-Identifier: Apache-2.0
import { recreatingOwner, type Pod } from '../../api/object/pod.ts';
import { parseTime } from '../../api/object/time.ts';

/** A running pod that may hold a leaf of the CA in question. */
export interface AffectedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** `ReplicaSet/web`: makes another when this one is gone. Undefined for a bare pod. */
  readonly remadeBy: string | undefined;
}

/** Who issued the newest leaf that a pod got, as far as its PodCertificateRequests still say so. */
export type NewestIssuer = 'this' | 'another' | 'unknown';

export interface AffectedPodsInput {
  /** Those that are alive and mount the signer. */
  readonly pods: readonly Pod[];
  /** Milliseconds: the CA signed nothing later; undefined where it may sign still. */
  readonly stoppedBy: number | undefined;
  readonly newestIssuer: (pod: Pod) => NewestIssuer;
}

/**
 * The pods whose credential may be of the CA, the eldest first. What a pod got last counts, since its
 * kubelet keeps nothing older; where nobody knows what that was, its age does.
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
