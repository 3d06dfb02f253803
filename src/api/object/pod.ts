// SPDX-License-Identifier: Apache-2.0
/** Core `v1` Pod, as far as it says whose credentials it mounts and who would make it anew. */
import type { KubeObject } from './object.ts';

export interface PodVolume {
  readonly projected?: {
    readonly sources?: readonly {
      readonly podCertificate?: { readonly signerName?: string };
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
  readonly spec: { readonly volumes?: readonly PodVolume[]; readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** For how many of its files its kubelet asks this signer for a certificate (`podCertificate`). */
export function countPodCertificates({ spec }: Pod, signerName: string): number {
  return (spec.volumes ?? [])
    .flatMap(({ projected }) => projected?.sources ?? [])
    .filter((source) => source.podCertificate?.signerName === signerName).length;
}

/** Neither ended nor on its way out: it may hold a credential. */
export function isAlive({ metadata, status }: Pod): boolean {
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !ended && metadata.deletionTimestamp === undefined;
}

/**
 * Who makes another when the pod is gone; undefined for a bare pod. A static pod's controller is its
 * Node, whose kubelet goes on running it whatever becomes of its mirror.
 */
export function recreatingOwner({ metadata }: Pod): OwnerReference | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === 'Node' ? undefined : owner;
}
