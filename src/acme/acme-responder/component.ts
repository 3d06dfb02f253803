// SPDX-License-Identifier: Apache-2.0
import { CHALLENGE_SERVICE } from '#api/acme/route-names.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { HTTP01_FLAGS, type Http01Flags } from '../flags.ts';
import { permissions } from './permissions.ts';
import { RESPONDER_SERIES } from './metrics.ts';

/** Flags of `acme-responder`. */
export interface ResponderFlags extends Http01Flags {
  readonly listenChallenges: string;
}

/** Port of the Deployment's containers. */
const CHALLENGE_PORT = 8089;

/** Each replica answers for all Challenges. */
export const acmeResponder: ComponentDescriptor<'acme-responder'> = {
  name: 'acme-responder',
  summary:
    'run the component that answers ACME servers which look for the files of HTTP-01; it faces the Internet',
  load: () => import('./run.ts'),
  series: [RESPONDER_SERIES],
  description:
    'Answers ACME servers that look for the files of HTTP-01; faces the Internet, reads no Secret.',
  flags: [
    ...HTTP01_FLAGS,
    {
      flag: '--listen-challenges <host:port>',
      help: 'address for /.well-known/acme-challenge/',
      listens: CHALLENGE_PORT,
    },
  ],
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  optional: { enabled: false },
  leases: false,
  publicPorts: [{ name: 'challenges', containerPort: CHALLENGE_PORT, service: CHALLENGE_SERVICE }],
};
