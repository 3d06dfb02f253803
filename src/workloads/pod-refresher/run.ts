// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import { openReader, type ReaderFlags } from '#requests/recording/open-reader.ts';
import { refreshSettings } from '../refresh/flags.ts';
import type { PodRefresherFlags } from './component.ts';
import { createPodRefresher } from './index.ts';

/**
 * Runs the component that restarts workloads whose certificates have changed, until it is stopped.
 */
export async function run(host: Host<PodRefresherFlags & ReaderFlags>): Promise<void> {
  const { flags, monotonic } = host;
  await host.run(async (component) => {
    const { client } = component;
    const [[bundles], [podCertificateRequests]] = await Promise.all([
      certificatesResources(client, 'clustertrustbundles'),
      certificatesResources(client, 'podcertificaterequests'),
    ]);
    const settings = {
      ...refreshSettings(flags),
      secrets: flags.secret,
      ledger: openReader(flags, monotonic),
    };
    return createPodRefresher(component, { podCertificateRequests, bundles }, settings);
  });
}
