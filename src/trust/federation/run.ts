// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import type { FederationFlags } from './flags.ts';
import { createFederation } from './index.ts';
import * as messages from './messages.ts';

/** Limit of trust domains. Each has its own fetch, with a response of at most 1 MiB. */
const MAX_DOMAINS = 64;

/**
 * Runs the component that fetches the SPIFFE bundles of foreign trust domains, until it is stopped.
 */
export async function run({ flags, ...host }: Host<FederationFlags>): Promise<void> {
  const { federate: domains, ownTrustDomain: ownDomains, endedTrustDomain: endedDomains } = flags;
  const names = domains.map(({ trustDomain }) => trustDomain);
  check(names, ownDomains);
  const alive = endedDomains.find((each) => names.includes(each));
  if (alive !== undefined) throw usageError(messages.endedAndFederated(alive));
  const proxy = host.egressProxy();
  await host.run(async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createFederation(component, bundles, {
      domains,
      endedDomains,
      ownDomains,
      directory: flags.federationFiles,
      networks: flags.federationNetwork,
      proxy,
      keepSeconds: flags.keep,
      shortestSeconds: Math.max(1, flags.shortestRefresh),
    });
  });
}

function check(names: readonly string[], ownDomains: readonly string[]): void {
  if (names.length > MAX_DOMAINS)
    throw usageError(messages.tooManyDomains(names.length, MAX_DOMAINS));
  const own = names.find((each) => ownDomains.includes(each));
  if (own !== undefined) throw usageError(messages.ownAndFederated(own));
  const twice = names.find((each, at) => names.indexOf(each) !== at);
  if (twice !== undefined) throw usageError(messages.federatedTwice(twice));
}
