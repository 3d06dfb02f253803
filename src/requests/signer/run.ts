// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import type { KeyHolderFlags } from '../ca/flags.ts';
import { openHolder } from '../ca/open-holder.ts';
import { intermediateCa } from '../issuing/intermediate-ca.ts';
import { createSigner } from './index.ts';

/** Runs the component that signs approved CertificateSigningRequests, until it is stopped. */
export async function run(host: Host<KeyHolderFlags>): Promise<void> {
  await host.run(async (component, log) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createSigner({
      component,
      bundles,
      intermediateCa,
      ...openHolder(host, log, component.metrics),
    });
  });
}
