// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/permissions.ts';
import type { PermissionNames } from '../../serving/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_CLUSTER_SIGNERS,
  onLeaderLease,
  onSecrets,
} from '../../serving/rules.ts';

/**
 * What the authority's roles hold: it sees no request, and changes no bundle. A Secret is patched,
 * never put: what others wrote into it stays. `create secrets` cannot be narrowed by name,
 * which is why keys live in a namespace without ServiceAccounts and workloads of ours.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const namespaces = [...new Set(names.secrets.map(({ namespace }) => namespace))];
  return [
    READ_CLUSTER_SIGNERS,
    READ_BUNDLES,
    {
      apiGroups: ['countersign.dev'],
      resources: ['clustersigners/status'],
      verbs: ['update'],
    },
    ...namespaces.map((namespace) => ({
      apiGroups: [''],
      resources: ['secrets'],
      verbs: ['create'],
      namespace,
    })),
    ...onSecrets(names, ['get', 'list', 'watch', 'patch']),
    EVENTS_IN_DEFAULT,
    ...onLeaderLease(names, 'authority'),
  ];
}
