// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import { FACTS_FLAG, type FactsFlags } from '#requests/recording/facts-access.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { REFRESH_FLAGS, type RefreshFlags } from '../refresh/flags.ts';
import { permissions } from './permissions.ts';
import { REFRESH_SERIES } from './metrics.ts';

/** Flags of `pod-refresher`. */
export interface PodRefresherFlags extends RefreshFlags, FactsFlags {
  readonly secret: readonly string[];
}

/**
 * One replica leads by its Lease, so the limits of restarts are counted once. The other waits with
 * warm caches.
 */
export const podRefresher: ComponentDescriptor<'pod-refresher'> = {
  name: 'pod-refresher',
  summary:
    'run the component that restarts workloads which opted in when their certificates have changed',
  load: () => import('./run.ts'),
  series: [REFRESH_SERIES],
  leads: true,
  description: 'Restarts workloads that opted in when their certificates have changed.',
  flags: [
    ...REFRESH_FLAGS,
    {
      flag: '--secret <namespace>/<name>',
      help: 'Secret to read if no CertificateRequest with its certificate is left (repeatable)',
      parse: parseSecret,
      repeatable: true,
    },
    FACTS_FLAG,
  ],
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '640Mi' } },
  optional: { enabled: false },
  readsRecords: true,
};

/** @throws SignerError USAGE */
function parseSecret(text: string): string {
  if (/^[a-z0-9-]+\/[a-z0-9.-]+$/.test(text)) return text;
  throw usageError('write <namespace>/<name>');
}
