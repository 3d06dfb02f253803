// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import type { KeyHolderFlags } from '../ca/flags.ts';
import { openHolder } from '../ca/open-holder.ts';
import type { CertificateRequestFlags } from './component.ts';
import { createCertificateRequest } from './index.ts';

/**
 * Runs the component that signs approved CertificateRequests of cert-manager, until it is stopped.
 */
export async function run(host: Host<CertificateRequestFlags & KeyHolderFlags>): Promise<void> {
  await host.run(async (component, log) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    const { showInitializing: shows, maxAge } = host.flags;
    return createCertificateRequest({
      component,
      bundles,
      ...openHolder(host, log, component.metrics),
      shows,
      maxAgeMs: maxAge === undefined ? undefined : maxAge * 1000,
    });
  });
}
