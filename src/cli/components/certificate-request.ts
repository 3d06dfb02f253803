// SPDX-License-Identifier: Apache-2.0
import { openLocalAuthority } from '../../authorities/local.ts';
import { createCertificateRequest } from '../../controllers/certificate-request/index.ts';
import { certificatesResources } from '../../app/certificates-resources.ts';
import type { ComponentOptions } from '../../app/component-options.ts';
import { runComponent } from '../../app/component.ts';

/** Runs the component that signs approved CertificateRequests of cert-manager, until it is stopped. */
export async function run(options: ComponentOptions): Promise<void> {
  await runComponent('certificate-request', options, async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createCertificateRequest({ component, bundles, open: openLocalAuthority });
  });
}
