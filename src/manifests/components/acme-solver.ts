// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/acme-solver/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** One replica leads by its Lease, the other waits with warm caches. */
export const acmeSolver: ComponentDescription = {
  description:
    'Presents the Challenges of ACME by DNS records, Ingresses and HTTPRoutes; has no account key.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  optional: { enabled: false },
  servesNamespacedSigners: true,
};
