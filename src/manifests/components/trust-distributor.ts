// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/trust-distributor/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** One replica leads by its Lease, the other waits with warm caches. */
export const trustDistributor: ComponentDescription = {
  description:
    'Copies published anchors into ConfigMaps of namespaces that opted in, and those of Signers into their own; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  // The bundle of our own ports is published like any other.
  servesOwnTls: true,
  servesNamespacedSigners: true,
  optional: { enabled: false },
};
