// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';

/** What a bundle is made of. */
export interface DesiredInput {
  readonly signer: ClusterSigner;
  /** The bundle as served, if there is one. */
  readonly bundle: ClusterTrustBundle | undefined;
  readonly secretNamespace: string;
  readonly now: number;
  /** Our clock contradicts the API server's: no trust ends by either. */
  readonly clocksApart: boolean;
}
