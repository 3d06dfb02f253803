// SPDX-License-Identifier: Apache-2.0
import { readCaBundleTarget, type CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { permissions } from './permissions.ts';
import { TARGET_SERIES } from './metrics.ts';

/** Flags of `trust-distributor`. */
export interface TrustDistributorFlags {
  readonly caBundleOf: readonly CaBundleTarget[];
}

/** One replica leads by its Lease, the other waits with warm caches. */
export const trustDistributor: ComponentDescriptor<'trust-distributor'> = {
  name: 'trust-distributor',
  summary:
    'run the component that copies published anchors into ConfigMaps of namespaces that opted in, and into caBundles',
  load: () => import('./run.ts'),
  series: [TARGET_SERIES],
  leads: true,
  description:
    'Copies published anchors into ConfigMaps of namespaces that opted in, and those of Signers into their own; reads no Secret.',
  flags: [
    {
      flag: '--ca-bundle-of <resource>/<name>',
      help: 'object into whose caBundle anchors are written once its owner annotated it, such as apiservices/v1beta1.metrics.k8s.io (repeatable)',
      parse: readCaBundleTarget,
      repeatable: true,
    },
  ],
  permissions,
  replicas: 2,
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  // The bundle of our own ports is published like any other.
  servesOwnTls: true,
  servesNamespacedSigners: true,
  optional: { enabled: false },
};
