// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import { createAttester } from './index.ts';

/** Runs the component that publishes ClusterTrustBundles, until it is stopped. */
export async function run(host: Host): Promise<void> {
  await host.run(async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createAttester(component, bundles);
  });
}
