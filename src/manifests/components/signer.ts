// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/signer/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** Members share the requests by their Leases. */
export const signer: ComponentDescription = {
  description: 'Signs approved CertificateSigningRequests.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '640Mi' } },
  servesNamespacedSigners: true,
  records: true,
};
