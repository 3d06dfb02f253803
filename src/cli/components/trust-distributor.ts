// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '../../app/certificates-resources.ts';
import { runComponent } from '../../app/component.ts';
import type { TrustDistributorOptions } from '../trust-options.ts';
import { createTrustDistributor } from '../../controllers/trust-distributor/index.ts';

/** Runs the component that copies published anchors into ConfigMaps and caBundles, until it is stopped. */
export async function run(options: TrustDistributorOptions): Promise<void> {
  await runComponent('trust-distributor', options, async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createTrustDistributor(component, bundles, options.caBundleOf);
  });
}
