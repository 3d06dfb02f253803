// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '../../app/certificates-resources.ts';
import { runComponent } from '../../app/component.ts';
import { refreshSettings, type PodRefresherOptions } from '../refresh-options.ts';
import { createPodRefresher } from '../../controllers/pod-refresher/index.ts';

/** Runs the component that restarts workloads whose certificates have changed, until it is stopped. */
export async function run(options: PodRefresherOptions): Promise<void> {
  await runComponent('pod-refresher', options, async (component) => {
    const { client } = component;
    const [bundles] = await certificatesResources(client, 'clustertrustbundles');
    const [podCertificateRequests] = await certificatesResources(client, 'podcertificaterequests');
    const settings = {
      ...refreshSettings(options),
      ...{ secrets: options.secret, ledgerFacts: options.ledgerFacts === true },
    };
    return createPodRefresher(component, { podCertificateRequests, bundles }, settings);
  });
}
