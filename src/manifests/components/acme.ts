// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/acme/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** One replica leads by its Lease, the other waits with warm caches. */
export const acme: ComponentDescription = {
  description: 'Gets certificates from ACME servers; reads account keys, and no CA key.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  optional: { enabled: false },
  servesNamespacedSigners: true,
  servesAcme: true,
  records: true,
};
