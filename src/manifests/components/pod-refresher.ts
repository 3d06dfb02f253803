// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/pod-refresher/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** One replica leads by its Lease, the other waits with warm caches: the limits of restarts are counted once. */
export const podRefresher: ComponentDescription = {
  description: 'Restarts workloads that opted in when their certificates have changed.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '640Mi' } },
  optional: { enabled: false },
  readsRecords: true,
};
