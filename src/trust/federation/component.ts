// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { FEDERATION_DIRECTORY, FEDERATION_FLAGS, FEDERATION_SECRET } from './flags.ts';
import { permissions } from './permissions.ts';
import { FEDERATION_SERIES } from './metrics.ts';

/** One replica leads by its Lease and fetches. */
export const federation: ComponentDescriptor<'federation'> = {
  name: 'federation',
  summary: 'run the component that fetches SPIFFE bundles of other trust domains',
  load: () => import('./run.ts'),
  series: [FEDERATION_SERIES],
  leads: true,
  description: 'Fetches the SPIFFE bundles of foreign trust domains; reads no Secret.',
  flags: FEDERATION_FLAGS,
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  optional: { enabled: false },
  secretVolumes: [
    {
      name: 'files',
      secret: FEDERATION_SECRET,
      mountPath: FEDERATION_DIRECTORY,
    },
  ],
};
