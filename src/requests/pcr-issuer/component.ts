// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { FACTS_FLAG } from '../recording/facts-access.ts';
import { KEY_HOLDER_FLAG } from '../ca/flags.ts';
import { HOLDER_SERIES } from '../ca/metrics.ts';
import { permissions } from './permissions.ts';
import { EXPIRY_SERIES } from '../issuing/metrics.ts';
import { REQUEST_SERIES } from '../loop/metrics.ts';
import { POD_SERIES } from './metrics.ts';

/**
 * Members share the requests by their Leases. Pods wait for this component, so its CPU request is
 * larger than that of the others.
 */
export const pcrIssuer: ComponentDescriptor<'pcr-issuer'> = {
  name: 'pcr-issuer',
  summary: 'run the component that issues PodCertificateRequests',
  load: () => import('./run.ts'),
  series: [EXPIRY_SERIES, POD_SERIES, REQUEST_SERIES, HOLDER_SERIES],
  description: 'Answers PodCertificateRequests.',
  flags: [FACTS_FLAG, KEY_HOLDER_FLAG],
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '640Mi' } },
  servedKind: 'pods',
  servesNamespacedSigners: true,
  records: true,
  signsByKeyHolder: true,
  readsRecords: true,
};
