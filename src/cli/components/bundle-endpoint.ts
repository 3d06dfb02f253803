// SPDX-License-Identifier: Apache-2.0
import { certificatesResources } from '../../app/certificates-resources.ts';
import { runComponent } from '../../app/component.ts';
import { openEndpointPorts } from '../../app/spiffe/bundle-server.ts';
import type { EndpointOptions } from '../../app/spiffe/endpoint-options.ts';
import { createBundleEndpoint } from '../../controllers/bundle-endpoint/index.ts';

/** How often a consumer looks before an anchor is used to sign (SPIFFE Federation §4.1: three to five times). */
const LOOKS_BEFORE_USE = 5;

/** Runs the component that serves the SPIFFE bundles of our trust domains, until it is stopped. */
export async function run(options: EndpointOptions): Promise<void> {
  const { trustDomain, propagation } = options;
  const hint = options.refreshHint ?? Math.ceil(propagation / LOOKS_BEFORE_USE);
  await runComponent('bundle-endpoint', options, async (component, log) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    const endpoint = createBundleEndpoint(component, bundles, trustDomain, Math.max(1, hint));
    const ports = await openEndpointPorts(
      options,
      {
        documentOf: (domain) => endpoint.documentOf(domain),
        onAnswered: (profile, status) => component.metrics.bundleAnswered(profile, status),
        onCertificate: (profile, seconds) =>
          component.metrics.endpointCertificate(profile, seconds),
      },
      log,
    );
    log.info({ ports: Object.fromEntries(ports.ports) }, 'serves SPIFFE bundles');
    return {
      ...endpoint,
      warnings: () => [...(endpoint.warnings?.() ?? []), ...ports.warnings()],
      run: async (signal) => {
        await Promise.all([endpoint.run(signal), ports.run(signal)]);
      },
    };
  });
}
