// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '../../app/certificates-resources.ts';
import { runComponent } from '../../app/component.ts';
import type { FederationOptions } from '../../app/spiffe/federation-options.ts';
import { createFederation } from '../../controllers/federation/index.ts';
import { usageError } from '../../errors.ts';

/** Each is asked on its own, with an answer of a MiB at most. */
const MOST_DOMAINS = 64;

/** Runs the component that fetches the SPIFFE bundles of foreign trust domains, until it is stopped. */
export async function run(options: FederationOptions): Promise<void> {
  const { federate: domains, ownTrustDomain: ownDomains, endedTrustDomain: endedDomains } = options;
  const names = domains.map(({ trustDomain }) => trustDomain);
  check(names, ownDomains);
  const alive = endedDomains.find((each) => names.includes(each));
  if (alive !== undefined)
    throw usageError(
      `--ended-trust-domain names ${alive}, which --federate names, too; leave one of them out`,
    );
  await runComponent('federation', options, async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createFederation(component, bundles, {
      ...{ domains, endedDomains, ownDomains, directory: options.federationFiles },
      networks: options.federationNetwork,
      keepSeconds: options.keep,
      shortestSeconds: Math.max(1, options.shortestRefresh),
    });
  });
}

function check(names: readonly string[], ownDomains: readonly string[]): void {
  if (names.length > MOST_DOMAINS)
    throw usageError(
      `--federate names ${names.length} trust domains; ${MOST_DOMAINS} are the most`,
    );
  const own = names.find((each) => ownDomains.includes(each));
  if (own !== undefined)
    throw usageError(
      `--federate names ${own}, which --own-trust-domain names, too: a foreign bundle never stands for our own`,
    );
  const twice = names.find((each, at) => names.indexOf(each) !== at);
  if (twice !== undefined)
    throw usageError(`--federate names ${twice} twice; leave one of them out`);
}
