// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { SignerError } from '#base/errors.ts';
import type { ServingFinding } from '../serving/serving-of.ts';
import type { ObservedSecret, Inspect } from './inspect.ts';
import type { UpstreamAnswer } from '../upstream/answer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';

export interface SignerSnapshot {
  readonly signer: ClusterSigner;
  /** The older ClusterSigner with the same signer name, if there is one. */
  readonly elder: string | undefined;
  /** Reason why the spec cannot be served. */
  readonly specError: SignerError | undefined;
  /** Reason why the spec is not checked yet: it got no CPU time to compile. */
  readonly deferred?:
    { readonly reason: 'CelBudgetSpent' | 'CelThrottled'; readonly message: string } | undefined;
  readonly secret: ObservedSecret;
  readonly inspect: Inspect;
  /** Answer of an upstream CA that `authority` calls by itself. Absent if no key waits for one. */
  readonly upstreamAnswer?: UpstreamAnswer | undefined;
  /** The published bundle, as far as it is known. */
  readonly bundle: ClusterTrustBundle | undefined;
  /** True if bundles are listed, so that an undefined `bundle` does not exist. */
  readonly isBundleKnown: boolean;
  /** Finding on the components that the signer needs, or undefined without Leases. */
  readonly serving: ServingFinding | undefined;
  readonly secretNamespace: string;
  readonly propagationSeconds: number;
  /** Maximum time that a CA waits for targets of trust after its anchor is published. */
  readonly targetDeadlineSeconds?: number | undefined;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
  /** True if our own clock contradicts the API server's. */
  readonly clocksApart: boolean;
}
