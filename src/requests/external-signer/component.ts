// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { EXPIRY_SERIES } from '../issuing/metrics.ts';
import { REQUEST_SERIES } from '../loop/metrics.ts';
import { EXTERNAL_FLAGS } from './flags.ts';
import { EXTERNAL_SERIES } from './metrics.ts';
import { permissions } from './permissions.ts';

/** One replica leads by its Lease, so that one process limits the calls of each CA. */
export const externalSigner: ComponentDescriptor<'external-signer'> = {
  name: 'external-signer',
  summary: 'run the component that answers requests by a CA outside Countersign',
  load: () => import('./run.ts'),
  series: [EXTERNAL_SERIES, EXPIRY_SERIES, REQUEST_SERIES],
  leads: true,
  description: 'Answers requests by a CA outside Countersign; reads no CA key and no Secret.',
  flags: EXTERNAL_FLAGS,
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
  optional: { enabled: false },
  servesExternal: true,
  records: true,
  scratch: { mountPath: '/var/lib/countersign', flag: '--kept-chains' },
};
