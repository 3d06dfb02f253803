// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/federation/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** One replica leads by its Lease and asks. */
export const federation: ComponentDescription = {
  description: 'Fetches the SPIFFE bundles of foreign trust domains; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  optional: { enabled: false },
  secretVolumes: [
    {
      name: 'files',
      secret: 'countersign-federation-files',
      mountPath: '/run/countersign/federation',
    },
  ],
};
