// SPDX-License-Identifier: Apache-2.0

/** v1 Node: the fields that this project reads. */
export interface ClusterNode {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly nodeInfo?: { readonly kubeletVersion?: string } };
}

/**
 * The oldest minor version of a kubelet with podCertificate and clusterTrustBundle volumes
 * (KEP-4317, KEP-3257).
 */
export const MIN_KUBELET = 35;

/** Returns the minor version in `v1.37.1`, or undefined for another text. */
export function minorOf(version: string): number | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === '1' && minor !== undefined ? Number(minor) : undefined;
}

/**
 * Reports whether a kubelet of this version, such as `v1.37.1`, supports podCertificate volumes.
 */
export function knowsPodCertificates(version: string): boolean {
  return (minorOf(version) ?? 0) >= MIN_KUBELET;
}
