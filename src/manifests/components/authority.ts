// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/authority/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** One replica leads by its Lease, the other waits with warm caches. */
export const authority: ComponentDescription = {
  description: 'Checks ClusterSigners, makes managed CAs, writes their status.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  servesNamespacedSigners: true,
  servesOwnTls: true,
  records: true,
};
