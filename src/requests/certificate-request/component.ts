// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { KEY_HOLDER_FLAG } from '../ca/flags.ts';
import { HOLDER_SERIES } from '../ca/metrics.ts';
import { permissions } from './permissions.ts';
import { REQUEST_SERIES } from '../loop/metrics.ts';

/** Flags of `certificate-request`. */
export interface CertificateRequestFlags {
  readonly showInitializing: boolean;
  /** Seconds. */
  readonly maxAge?: number;
}

/** Members share the requests by their Leases. */
export const certificateRequest: ComponentDescriptor<'certificate-request'> = {
  name: 'certificate-request',
  summary:
    'run the component that signs approved CertificateRequests of cert-manager, once that is installed',
  load: () => import('./run.ts'),
  series: [REQUEST_SERIES, HOLDER_SERIES],
  description:
    "Answers cert-manager's CertificateRequests; waits while cert-manager is not installed.",
  flags: [
    KEY_HOLDER_FLAG,
    {
      flag: '--show-initializing',
      help: 'set Ready of an approved request to Initializing before it is answered: one more write per request',
      default: false,
    },
    {
      flag: '--max-age <duration>',
      help: 'fail an approved request that no rule allows at this age (default: never)',
      parse: parseDuration,
    },
  ],
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '384Mi' } },
  // Optional, since only clusters with cert-manager need it.
  optional: { enabled: true },
  servedKind: 'certificateRequests',
  servesNamespacedSigners: true,
  records: true,
  signsByKeyHolder: true,
};
