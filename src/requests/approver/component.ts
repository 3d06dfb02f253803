// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { permissions } from './permissions.ts';
import { REQUEST_SERIES } from '../loop/metrics.ts';

/** Members share the requests by their Leases. */
export const approver: ComponentDescriptor<'approver'> = {
  name: 'approver',
  summary:
    'run the component that approves and denies CertificateSigningRequests by the rules of their signer',
  load: () => import('./run.ts'),
  series: [REQUEST_SERIES],
  description: 'Approves and denies CertificateSigningRequests; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '640Mi' } },
  servedKind: 'requests',
  servesNamespacedSigners: true,
  approvesAcme: true,
  approvesExternal: true,
  records: true,
};
