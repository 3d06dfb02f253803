// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { SignerError } from '../../../errors.ts';
import type { ObservedSecret, Inspect } from './inspect.ts';
import type { ClusterTrustBundle } from '../../../api/object/cluster-trust-bundle.ts';

export interface SignerSnapshot {
  readonly signer: ClusterSigner;
  /** The elder ClusterSigner with the same signer name, when there is one. */
  readonly elder: string | undefined;
  /** Why the spec cannot be served, when it cannot. */
  readonly specError: SignerError | undefined;
  readonly secret: ObservedSecret;
  readonly inspect: Inspect;
  /** The published bundle, as far as it is known. */
  readonly bundle: ClusterTrustBundle | undefined;
  /** Bundles were listed: where `bundle` is undefined there is none. */
  readonly isBundleKnown: boolean;
  /** Names this installation. */
  readonly secretNamespace: string;
  readonly propagationSeconds: number;
  /** Milliseconds of the API server's clock. */
  readonly now: number;
  /** Our own says something else altogether. */
  readonly clocksApart: boolean;
}
