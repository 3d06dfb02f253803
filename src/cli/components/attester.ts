// SPDX-License-Identifier: Apache-2.0
import { createAttester } from '../../controllers/attester/index.ts';
import { certificatesResources } from '../../app/certificates-resources.ts';
import type { ComponentOptions } from '../../app/component-options.ts';
import { runComponent } from '../../app/component.ts';

/** Runs the component that publishes ClusterTrustBundles, until it is stopped. */
export async function run(options: ComponentOptions): Promise<void> {
  await runComponent('attester', options, async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createAttester(component, bundles);
  });
}
