// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import type { Network } from '../../egress/networks.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Reflector } from '../../kube/watch/reflector.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { Signers } from '../../runtime/signers/signer-set.ts';
import type { ForeignDomain } from '../../spiffe/foreign-domain.ts';
import type { Looks } from './look.ts';
import type { Pace } from './schedule.ts';
import type { Told } from './tell.ts';

/** What an administrator says of federation. */
export interface FederationInit extends Pace {
  readonly domains: readonly ForeignDomain[];
  /** Their bundles are deleted. */
  readonly endedDomains: readonly string[];
  readonly ownDomains: readonly string[];
  /** Where `<trust domain>.json`, `.pem` and `.crt` are. */
  readonly directory: string;
  /** Networks that endpoints may be in although they are no part of the Internet. */
  readonly networks: readonly Network[];
}

/** What the component has while it runs. */
export interface Federation {
  readonly component: Component;
  readonly init: FederationInit;
  readonly resource: Resource;
  readonly signers: Signers;
  readonly bundles: Reflector<ClusterTrustBundle>;
  /** By trust domain, since this replica leads. */
  readonly told: Map<string, Told>;
  readonly looks: Looks;
}
