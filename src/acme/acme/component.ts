// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { ACME_FLAGS } from './flags.ts';
import { permissions } from './permissions.ts';
import { EXPIRY_SERIES } from '#requests/issuing/metrics.ts';
import { REQUEST_SERIES } from '#requests/loop/metrics.ts';
import { ACME_SERIES } from './metrics.ts';

/** One replica leads by its Lease. The other waits with warm caches. */
export const acme: ComponentDescriptor<'acme'> = {
  name: 'acme',
  summary: 'run the component that gets certificates from ACME servers',
  load: () => import('./run.ts'),
  series: [ACME_SERIES, EXPIRY_SERIES, REQUEST_SERIES],
  leads: true,
  description: 'Gets certificates from ACME servers; reads account keys, and no CA key.',
  flags: ACME_FLAGS,
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  optional: { enabled: false },
  servesNamespacedSigners: true,
  servesAcme: true,
  records: true,
};
