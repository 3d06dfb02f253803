// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/approver/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** Members share the requests by their Leases. */
export const approver: ComponentDescription = {
  description: 'Approves and denies CertificateSigningRequests; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '640Mi' } },
  servesNamespacedSigners: true,
  approvesAcme: true,
  records: true,
};
