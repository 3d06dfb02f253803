// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { AUTHORITY_FLAGS } from './flags.ts';
import { permissions } from './permissions.ts';
import { AUTHORITY_SERIES } from './metrics.ts';

/** One replica leads by its Lease, the other waits with warm caches. */
export const authority: ComponentDescriptor<'authority'> = {
  name: 'authority',
  summary:
    'run the component that checks ClusterSigners and manages CAs; with a verb: manage CAs yourself',
  load: () => import('./run.ts'),
  series: [AUTHORITY_SERIES],
  leads: true,
  description: 'Checks ClusterSigners, makes managed CAs, writes their status.',
  flags: AUTHORITY_FLAGS,
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '384Mi' } },
  servesNamespacedSigners: true,
  servesOwnTls: true,
  records: true,
};
