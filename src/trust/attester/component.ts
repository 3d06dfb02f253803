// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { permissions } from './permissions.ts';
import { BUNDLE_SERIES } from './metrics.ts';

/** One replica leads by its Lease, the other waits with warm caches. */
export const attester: ComponentDescriptor<'attester'> = {
  name: 'attester',
  summary: 'run the component that publishes ClusterTrustBundles',
  load: () => import('./run.ts'),
  series: [BUNDLE_SERIES],
  leads: true,
  description: 'Publishes ClusterTrustBundles; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '384Mi' } },
  servesOwnTls: true,
};
