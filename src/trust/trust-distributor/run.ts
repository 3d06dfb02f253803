// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import type { TrustDistributorFlags } from './component.ts';
import { createTrustDistributor } from './index.ts';

/**
 * Runs the component that copies published anchors into ConfigMaps and caBundles, until it is
 * stopped.
 */
export async function run({ flags, ...host }: Host<TrustDistributorFlags>): Promise<void> {
  await host.run(async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createTrustDistributor(component, bundles, flags.caBundleOf);
  });
}
