// SPDX-License-Identifier: Apache-2.0
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Network } from '#base/egress/networks.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Reflector } from '#kube/watch/reflector.ts';
import type { Component } from '#component/contract.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import type { ForeignDomain } from '../spiffe/foreign-domain.ts';
import type { BundleFetcher } from './bundle-fetcher.ts';
import type { Pace } from './schedule.ts';
import type { FetchState } from './report-change.ts';

/** An administrator's configuration of federation. */
export interface FederationInit extends Pace {
  readonly domains: readonly ForeignDomain[];
  /** Trust domains whose bundles are deleted. */
  readonly endedDomains: readonly string[];
  readonly ownDomains: readonly string[];
  /** Directory with `<trust domain>.json`, `.pem` and `.crt`. */
  readonly directory: string;
  /** Non-public networks that endpoints may be in. */
  readonly networks: readonly Network[];
  readonly proxy: EgressProxy | undefined;
}

/** State of the component while it runs. */
export interface Federation {
  readonly component: Component;
  readonly init: FederationInit;
  readonly resource: Resource;
  readonly signers: Signers;
  readonly bundles: Reflector<ClusterTrustBundle>;
  /** Fetch states by trust domain, since this replica leads. */
  readonly fetchStates: Map<string, FetchState>;
  readonly fetcher: BundleFetcher;
}
