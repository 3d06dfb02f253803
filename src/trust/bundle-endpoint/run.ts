// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import { openEndpointPorts } from './bundle-server.ts';
import type { EndpointFlags } from './flags.ts';
import { createBundleEndpoint } from './index.ts';
import * as messages from './messages.ts';
import { ENDPOINT_SERIES } from './metrics.ts';

/**
 * Fetches of a consumer before an anchor is used to sign (SPIFFE Federation §4.1: three to five
 * times).
 */
const FETCHES_BEFORE_USE = 5;

/**
 * Runs the component that serves the SPIFFE bundles of this cluster's trust domains, until it is
 * stopped.
 */
export async function run({ flags, ...host }: Host<EndpointFlags>): Promise<void> {
  await host.run(async (component, log) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    const { propagationSeconds } = component;
    const hint = flags.refreshHint ?? Math.ceil(propagationSeconds / FETCHES_BEFORE_USE);
    const endpoint = createBundleEndpoint(component, bundles, flags.trustDomain, Math.max(1, hint));
    const { responses, notAfter } = component.metrics.of(ENDPOINT_SERIES);
    const ports = await openEndpointPorts(flags, {
      ...component,
      documentOf: (domain) => endpoint.documentOf(domain),
      onAnswered: (profile, status) => responses.inc({ profile, code: String(status) }),
      onCertificate: (profile, seconds) => notAfter.set({ profile }, seconds),
    });
    log.info({ ports: Object.fromEntries(ports.ports) }, messages.SERVES_BUNDLES);
    return {
      ...endpoint,
      warnings: () => [...(endpoint.warnings?.() ?? []), ...ports.warnings()],
      run: async (signal) => {
        await Promise.all([endpoint.run(signal), ports.run(signal)]);
      },
    };
  });
}
