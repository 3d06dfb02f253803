// SPDX-License-Identifier: Apache-2.0

/** A process of its own. */
export interface Program {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
}

/** Somebody who answers PodCertificateRequests, as a process and a ServiceAccount of its own. */
export interface Contender extends Program {
  /** Each has its own, so that no watch carries what another one writes. */
  readonly signerName: string;
  /** The ClusterTrustBundle that its leaves must chain to; absent: it publishes none. */
  readonly bundle?: string;
  /** Processes that work for it alone: their CPU time is its own. Asked again at each reading. */
  readonly beside?: () => readonly number[];
}
