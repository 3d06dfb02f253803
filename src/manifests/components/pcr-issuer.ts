// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/pcr-issuer/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** Members share the requests by their Leases. Pods wait for it, so it gets more of a busy node than the others. */
export const pcrIssuer: ComponentDescription = {
  description: 'Answers PodCertificateRequests.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '640Mi' } },
  servesNamespacedSigners: true,
  records: true,
  readsRecords: true,
};
