// SPDX-License-Identifier: Apache-2.0
import { openLocalAuthority } from '../../authorities/local.ts';
import { createPcrIssuer } from '../../controllers/pcr-issuer/index.ts';
import { certificatesResources } from '../../app/certificates-resources.ts';
import type { ComponentOptions } from '../../app/component-options.ts';
import type { FactsOptions } from '../../app/ledger/options.ts';
import { runComponent } from '../../app/component.ts';

/** Runs the component that issues PodCertificateRequests, until it is stopped. */
export async function run(options: ComponentOptions & FactsOptions): Promise<void> {
  await runComponent('pcr-issuer', options, async (component) => {
    const { client } = component;
    const [bundles] = await certificatesResources(client, 'clustertrustbundles');
    const [requests, legacy] = await certificatesResources(client, 'podcertificaterequests');
    return createPcrIssuer({
      ...{ component, requests, legacy, bundles, open: openLocalAuthority },
      ledgerFacts: options.ledgerFacts === true,
    });
  });
}
