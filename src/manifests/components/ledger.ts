// SPDX-License-Identifier: Apache-2.0
import { LEDGER_SERVICE } from '../../api/signer/own-tls.ts';
import { permissions } from '../../controllers/ledger/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** With SQLite one pod has the volume: a second one would wait for it, and never get it on another node. */
export const ledger: ComponentDescription = {
  description: 'Keeps records of what was asked, allowed and issued; signs no certificate.',
  permissions,
  replicas: 1,
  resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '640Mi' } },
  optional: { enabled: false },
  publicPorts: [
    { name: 'ledger', containerPort: 8444, service: LEDGER_SERVICE, servicePort: 443 },
    { name: 'crl', containerPort: 8090, service: 'countersign-crl' },
  ],
  storage: { mountPath: '/var/lib/countersign', claim: 'countersign-ledger' },
  servesNamespacedSigners: true,
};
