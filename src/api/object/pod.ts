// SPDX-License-Identifier: Apache-2.0
/**
 * Core `v1` Pod: the fields that show which credentials it mounts and which controller recreates
 * it.
 */
import type { LabelSelector } from './label-selector.ts';
import type { KubeObject } from './object.ts';

export interface PodVolume {
  readonly name?: string;
  readonly secret?: { readonly secretName?: string };
  readonly configMap?: { readonly name?: string };
  readonly projected?: {
    readonly sources?: readonly {
      readonly podCertificate?: {
        readonly signerName?: string;
        readonly maxExpirationSeconds?: number;
        readonly userAnnotations?: Readonly<Record<string, string>>;
      };
      readonly secret?: { readonly name?: string };
      readonly configMap?: { readonly name?: string };
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
  readonly uid?: string;
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
    /** The headless Service in whose domain `hostname` is a name. */
    readonly subdomain?: string;
    readonly hostNetwork?: boolean;
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly podIP?: string;
    /** RFC 3339: when a kubelet accepted the pod, before its volumes were mounted. */
    readonly startTime?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

interface ContainerStatus {
  readonly name?: string;
  readonly state?: { readonly running?: { readonly startedAt?: string } };
}

/** Returns the number of its `podCertificate` projections for this signer. */
export function countPodCertificates({ spec }: Pod, signerName: string): number {
  return (spec.volumes ?? [])
    .flatMap(({ projected }) => projected?.sources ?? [])
    .filter((source) => source.podCertificate?.signerName === signerName).length;
}

/** A `clusterTrustBundle` projection: by name, or by signer name and labels. */
export type TrustBundleSource = NonNullable<
  NonNullable<NonNullable<PodVolume['projected']>['sources']>[number]['clusterTrustBundle']
>;

/** Returns its `clusterTrustBundle` projections. */
export function trustBundleSources({ spec }: Pod): readonly TrustBundleSource[] {
  return (spec.volumes ?? []).flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ clusterTrustBundle }) => clusterTrustBundle ?? []),
  );
}

/** Groups pods by the signers of their `podCertificate` projections. */
export function podsBySigner(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const pod of pods) {
    for (const name of podCertificateSigners(pod)) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [pod]);
      else group.push(pod);
    }
  }
  return groups;
}

/** Returns the signer names of its `podCertificate` projections, each once. */
export function podCertificateSigners({ spec }: Pod): ReadonlySet<string> {
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return new Set(sources.flatMap(({ podCertificate }) => podCertificate?.signerName ?? []));
}

/** Reports whether the pod runs or may run: it has not ended and is not being deleted. */
export function isAlive({ metadata, status }: Pod): boolean {
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !ended && metadata.deletionTimestamp === undefined;
}

/**
 * Returns the controller that replaces the pod, or undefined for a bare pod. The controller of a
 * static pod is its Node: the kubelet keeps the pod running even if a user deletes the mirror pod.
 */
export function recreatingOwner({ metadata }: Pod): OwnerReference | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === 'Node' ? undefined : owner;
}
