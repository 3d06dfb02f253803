// SPDX-License-Identifier: Apache-2.0
import { LEDGER_SERVICE } from '#api/signer/own-tls.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { CRL_PORT, DATA_DIRECTORY, LEDGER_FLAGS, LEDGER_PORT } from './flags.ts';
import { permissions } from './permissions.ts';
import { LEDGER_SERIES } from './metrics.ts';

/**
 * The component `ledger`. With SQLite one pod has the volume. A second pod would wait for it, and
 * never get it on another node.
 */
export const ledger: ComponentDescriptor<'ledger'> = {
  name: 'ledger',
  summary: 'run the component that keeps records of requests, decisions and certificates',
  load: () => import('./run.ts'),
  series: [LEDGER_SERIES],
  leads: true,
  description: 'Keeps records of requests, decisions and certificates; signs no certificate.',
  flags: LEDGER_FLAGS,
  permissions,
  replicas: 1,
  resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '640Mi' } },
  optional: { enabled: false },
  publicPorts: [
    { name: 'ledger', containerPort: LEDGER_PORT, service: LEDGER_SERVICE, servicePort: 443 },
    { name: 'crl', containerPort: CRL_PORT, service: 'countersign-crl' },
  ],
  storage: { mountPath: DATA_DIRECTORY, claim: 'countersign-ledger' },
  servesNamespacedSigners: true,
};
