// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { ENDPOINT_FLAGS, SPIFFE_PORT, SVID_DIRECTORY, WEB_DIRECTORY, WEB_PORT } from './flags.ts';
import { permissions } from './permissions.ts';
import { ENDPOINT_SERIES } from './metrics.ts';

/** Each replica serves all bundles. */
export const bundleEndpoint: ComponentDescriptor<'bundle-endpoint'> = {
  name: 'bundle-endpoint',
  summary: 'run the component that serves SPIFFE bundles to other trust domains',
  load: () => import('./run.ts'),
  series: [ENDPOINT_SERIES],
  description:
    'Serves the SPIFFE bundles of our trust domains to other trust domains; reads no Secret.',
  flags: ENDPOINT_FLAGS,
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  optional: { enabled: false },
  leases: false,
  publicPorts: [
    {
      name: 'web',
      containerPort: WEB_PORT,
      service: 'countersign-bundle-endpoint-web',
      servicePort: 443,
    },
    {
      name: 'spiffe',
      containerPort: SPIFFE_PORT,
      service: 'countersign-bundle-endpoint-spiffe',
      servicePort: 443,
    },
  ],
  secretVolumes: [
    { name: 'web', secret: 'countersign-bundle-endpoint-web', mountPath: WEB_DIRECTORY },
    {
      name: 'svid',
      secret: 'countersign-bundle-endpoint-svid',
      mountPath: SVID_DIRECTORY,
      signer: 'svidSigner',
    },
  ],
};
