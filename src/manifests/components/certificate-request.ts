// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/certificate-request/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** Members share the requests by their Leases. */
export const certificateRequest: ComponentDescription = {
  description:
    "Answers cert-manager's CertificateRequests; waits while cert-manager is not installed.",
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  // Who has no cert-manager may leave it out.
  optional: { enabled: true },
  servesNamespacedSigners: true,
  records: true,
};
