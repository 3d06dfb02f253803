// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/acme-responder/permissions.ts';
import type { ComponentDescription } from './description.ts';

/** Each replica answers for all Challenges. */
export const acmeResponder: ComponentDescription = {
  description:
    'Answers ACME servers that look for the files of HTTP-01; faces the Internet, reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  optional: { enabled: false },
  leases: false,
  publicPorts: [
    { name: 'challenges', containerPort: 8089, service: 'countersign-acme-challenges' },
  ],
};
