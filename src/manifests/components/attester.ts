// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/attester/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** One replica leads by its Lease, the other waits with warm caches. */
export const attester: ComponentDescription = {
  description: 'Publishes ClusterTrustBundles; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  servesOwnTls: true,
};
