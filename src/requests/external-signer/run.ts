// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import { vaultAccess } from '#component/vault/access.ts';
import { createPodIssuing } from '../pcr-issuer/index.ts';
import { createCsrSigning } from '../signer/index.ts';
import type { ExternalFlags } from './flags.ts';
import { createExternalSigner } from './index.ts';
import { openKeptChains } from './kept-chains.ts';

/** Runs the component that answers requests by foreign CAs, until it is stopped. */
export async function run({ flags, userAgent, ...host }: Host<ExternalFlags>): Promise<void> {
  const proxy = host.egressProxy();
  await host.run(async (component) => {
    const resources = await certificatesResources(component.client, 'podcertificaterequests');
    const [requests, legacy] = resources;
    return createExternalSigner({
      component,
      access: vaultAccess(flags.vault ?? new Map(), { userAgent, proxy }),
      chains: await openKeptChains(flags.keptChains, component),
      issueForPods: (init) => createPodIssuing({ ...init, requests, legacy }),
      signCsrs: createCsrSigning,
    });
  });
}
