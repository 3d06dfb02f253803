// SPDX-License-Identifier: Apache-2.0
import { knowsPodCertificates, type ClusterNode } from '#api/object/node.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';

const NODES = resource({ group: '', version: 'v1', plural: 'nodes' });

/** The kubelet that requests a pod's certificate. */
export interface AskingKubelet {
  readonly node: string;
  /** Such as `v1.37.1`. */
  readonly version: string;
}

/** Reports whether the kubelet ignores `podCertificate` volumes. */
export function isTooOld(kubelet: AskingKubelet | undefined): kubelet is AskingKubelet {
  return kubelet !== undefined && !knowsPodCertificates(kubelet.version);
}

/**
 * Returns the kubelet of a pod's node. Undefined if no node runs the pod, the node does not exist,
 * or the user may not get nodes.
 */
export async function readKubelet(
  client: Client,
  node: string | undefined,
): Promise<AskingKubelet | undefined> {
  if (node === undefined) return undefined;
  const path = NODES.object({ name: node });
  try {
    const { status } = await client.request<ClusterNode>({ method: 'GET', path });
    const version = status?.nodeInfo?.kubeletVersion ?? '';
    return version === '' ? undefined : { node, version };
  } catch (error) {
    if (error instanceof KubeError && (error.status === 403 || error.status === 404)) return;
    throw error;
  }
}
