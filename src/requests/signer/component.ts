// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { KEY_HOLDER_FLAG } from '../ca/flags.ts';
import { HOLDER_SERIES } from '../ca/metrics.ts';
import { permissions } from './permissions.ts';
import { EXPIRY_SERIES } from '../issuing/metrics.ts';
import { REQUEST_SERIES } from '../loop/metrics.ts';

/** Members share the requests by their Leases. */
export const signer: ComponentDescriptor<'signer'> = {
  name: 'signer',
  summary: 'run the component that signs approved CertificateSigningRequests',
  load: () => import('./run.ts'),
  series: [EXPIRY_SERIES, REQUEST_SERIES, HOLDER_SERIES],
  description: 'Signs approved CertificateSigningRequests.',
  flags: [KEY_HOLDER_FLAG],
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '640Mi' } },
  servedKind: 'requests',
  servesNamespacedSigners: true,
  records: true,
  signsByKeyHolder: true,
};
