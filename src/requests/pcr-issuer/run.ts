// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import type { KeyHolderFlags } from '../ca/flags.ts';
import { openHolder } from '../ca/open-holder.ts';
import { openReader, type ReaderFlags } from '../recording/open-reader.ts';
import { createPcrIssuer } from './index.ts';

/** Runs the component that issues PodCertificateRequests, until it is stopped. */
export async function run(host: Host<ReaderFlags & KeyHolderFlags>): Promise<void> {
  await host.run(async (component, log) => {
    const { client } = component;
    const [[bundles], [requests, legacy]] = await Promise.all([
      certificatesResources(client, 'clustertrustbundles'),
      certificatesResources(client, 'podcertificaterequests'),
    ]);
    return createPcrIssuer({
      component,
      requests,
      legacy,
      bundles,
      ...openHolder(host, log, component.metrics),
      ledger: openReader(host.flags, host.monotonic),
    });
  });
}
