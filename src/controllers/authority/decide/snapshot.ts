// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { SignerError } from '../../../errors.ts';
import type { ServingFinding } from '../serving/serving-of.ts';
import type { ObservedSecret, Inspect } from './inspect.ts';
import type { ClusterTrustBundle } from '../../../api/object/cluster-trust-bundle.ts';

export interface SignerSnapshot {
  readonly signer: ClusterSigner;
  /** The older ClusterSigner with the same signer name, if there is one. */
  readonly elder: string | undefined;
  /** Why the spec cannot be served, if it cannot. */
  readonly specError: SignerError | undefined;
  /** Why it is not known yet whether the spec can be served: it did not get the time to compile. */
  readonly putOff?:
    { readonly reason: 'CelBudgetSpent' | 'CelTurnsTaken'; readonly message: string } | undefined;
  readonly secret: ObservedSecret;
  readonly inspect: Inspect;
  /** The published bundle, as far as it is known. */
  readonly bundle: ClusterTrustBundle | undefined;
  /** Bundles are listed: if `bundle` is undefined there is none. */
  readonly isBundleKnown: boolean;
  /** Identifies this installation. */
  /** Whether the components that it needs serve it; undefined: Leases are off, so nothing is known. */
  readonly serving: ServingFinding | undefined;
  readonly secretNamespace: string;
  readonly propagationSeconds: number;
  /** How long after its anchor is published a CA waits for targets of trust at most. */
  readonly targetDeadlineSeconds?: number | undefined;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
  /** Our own clock contradicts the API server's. */
  readonly clocksApart: boolean;
}
