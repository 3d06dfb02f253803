// SPDX-License-Identifier: Apache-2.0
/** Core `v1` Pod: the fields that tell which credentials it mounts and which controller recreates it. */
import type { LabelSelector } from './label-selector.ts';
import type { KubeObject } from './object.ts';

export interface PodVolume {
  readonly name?: string;
  readonly secret?: { readonly secretName?: string };
  readonly projected?: {
    readonly sources?: readonly {
      readonly podCertificate?: {
        readonly signerName?: string;
        readonly userAnnotations?: Readonly<Record<string, string>>;
      };
      readonly secret?: { readonly name?: string };
      readonly clusterTrustBundle?: {
        readonly name?: string;
        readonly signerName?: string;
        readonly labelSelector?: LabelSelector;
      };
    }[];
  };
}

export interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly controller?: boolean;
}

export interface Pod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & {
    readonly ownerReferences?: readonly OwnerReference[];
  };
  readonly spec: {
    readonly volumes?: readonly PodVolume[];
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly hostname?: string;
    /** The headless Service under which `hostname` is a name. */
    readonly subdomain?: string;
    readonly hostNetwork?: boolean;
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    /** RFC 3339: when a kubelet accepted the pod, before its volumes were mounted. */
    readonly startTime?: string;
    readonly containerStatuses?: readonly {
      readonly name?: string;
      readonly state?: { readonly running?: { readonly startedAt?: string } };
    }[];
  };
}

/** The number of its `podCertificate` projections for this signer. */
export function countPodCertificates({ spec }: Pod, signerName: string): number {
  return (spec.volumes ?? [])
    .flatMap(({ projected }) => projected?.sources ?? [])
    .filter((source) => source.podCertificate?.signerName === signerName).length;
}

/** Whether the pod runs or may run: it has not ended and is not being deleted. */
export function isAlive({ metadata, status }: Pod): boolean {
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !ended && metadata.deletionTimestamp === undefined;
}

/**
 * The controller that replaces the pod; undefined for a bare pod. The controller of a static pod is its
 * Node, whose kubelet keeps it running even if the mirror pod is deleted.
 */
export function recreatingOwner({ metadata }: Pod): OwnerReference | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === 'Node' ? undefined : owner;
}
