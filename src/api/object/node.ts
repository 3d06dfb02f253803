// SPDX-License-Identifier: Apache-2.0

/** v1 Node, as far as it is read. */
export interface ClusterNode {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly nodeInfo?: { readonly kubeletVersion?: string } };
}

/** The oldest minor version of a kubelet that has podCertificate and clusterTrustBundle volumes (KEP-4317, KEP-3257). */
export const LEAST_KUBELET = 35;

/** The minor version in `v1.37.1`; undefined where it is none. */
export function minorOf(version: string): number | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === '1' && minor !== undefined ? Number(minor) : undefined;
}

/** Whether a kubelet of this version, such as `v1.37.1`, knows podCertificate volumes. */
export function knowsPodCertificates(version: string): boolean {
  return (minorOf(version) ?? 0) >= LEAST_KUBELET;
}
