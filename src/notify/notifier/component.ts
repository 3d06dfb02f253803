// SPDX-License-Identifier: Apache-2.0
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { NOTIFIER_DIRECTORY, NOTIFIER_FLAGS } from './flags.ts';
import { permissions } from './permissions.ts';
import { NOTIFICATION_SERIES } from './metrics.ts';

/** Secret with the targets' secrets, by target name. The user creates it. */
const NOTIFIER_SECRET = 'countersign-notifier-targets';

/**
 * The component `notifier`. The replica with the Lease sends, and the other waits with warm caches.
 */
export const notifier: ComponentDescriptor<'notifier'> = {
  name: 'notifier',
  summary: 'run the component that sends CloudEvents about certificates and CAs',
  load: () => import('./run.ts'),
  series: [NOTIFICATION_SERIES],
  leads: true,
  description: 'Sends signed CloudEvents about certificates and CAs; reads no Secret.',
  flags: NOTIFIER_FLAGS,
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  optional: { enabled: false },
  secretVolumes: [{ name: 'targets', secret: NOTIFIER_SECRET, mountPath: NOTIFIER_DIRECTORY }],
  servesNamespacedSigners: true,
};
