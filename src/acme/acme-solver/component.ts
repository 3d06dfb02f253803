// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { ACME_SOLVER_FLAGS } from './flags.ts';
import { permissions } from './permissions.ts';

/** One replica leads by its Lease. The other waits with warm caches. */
export const acmeSolver: ComponentDescriptor<'acme-solver'> = {
  name: 'acme-solver',
  summary:
    'run the component that presents the Challenges of ACME by DNS records, Ingresses and HTTPRoutes',
  load: () => import('./run.ts'),
  leads: true,
  description:
    'Presents the Challenges of ACME by DNS records, Ingresses and HTTPRoutes; has no account key.',
  flags: ACME_SOLVER_FLAGS,
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  optional: { enabled: false },
  servesNamespacedSigners: true,
};
