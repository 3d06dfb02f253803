// SPDX-License-Identifier: Apache-2.0
import { permissions } from '../../controllers/notifier/permissions.ts';
import { NOTIFIER_DIRECTORY, NOTIFIER_SECRET } from '../notification-arguments.ts';
import type { ComponentDescription } from './description.ts';

/** One replica tells, by its Lease; the other waits with warm caches. */
export const notifier: ComponentDescription = {
  description:
    'Tells others what happens to certificates and CAs, by signed CloudEvents; reads no Secret.',
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  optional: { enabled: false },
  secretVolumes: [{ name: 'targets', secret: NOTIFIER_SECRET, mountPath: NOTIFIER_DIRECTORY }],
  servesNamespacedSigners: true,
};
