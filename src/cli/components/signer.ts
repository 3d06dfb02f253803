// SPDX-License-Identifier: Apache-2.0
import { openLocalAuthority } from '../../authorities/local.ts';
import { createSigner } from '../../controllers/signer/index.ts';
import { certificatesResources } from '../../app/certificates-resources.ts';
import type { ComponentOptions } from '../../app/component-options.ts';
import { runComponent } from '../../app/component.ts';

/** Runs the component that signs approved CertificateSigningRequests, until it is stopped. */
export async function run(options: ComponentOptions): Promise<void> {
  await runComponent('signer', options, async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createSigner({ component, bundles, open: openLocalAuthority });
  });
}
