// SPDX-License-Identifier: Apache-2.0

/** Somebody who answers PodCertificateRequests, as a process and a ServiceAccount of its own. */
export interface Contender {
  readonly name: string;
  /** Each has its own, so that no watch carries what another one writes. */
  readonly signerName: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** The ClusterTrustBundle that its leaves must chain to; absent: it publishes none. */
  readonly bundle?: string;
}
