// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/bundle-endpoint/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** Each replica serves all bundles. */
export const bundleEndpoint: ComponentDescription = {
  description:
    'Serves the SPIFFE bundles of our trust domains to other trust domains; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  optional: { enabled: false },
  leases: false,
  publicPorts: [
    {
      name: 'web',
      containerPort: 8446,
      service: 'countersign-bundle-endpoint-web',
      servicePort: 443,
    },
    {
      name: 'spiffe',
      containerPort: 8447,
      service: 'countersign-bundle-endpoint-spiffe',
      servicePort: 443,
    },
  ],
  secretVolumes: [
    { name: 'web', secret: 'countersign-bundle-endpoint-web', mountPath: '/run/countersign/web' },
    {
      name: 'svid',
      secret: 'countersign-bundle-endpoint-svid',
      mountPath: '/run/countersign/svid',
      signer: 'svidSigner',
    },
  ],
};
