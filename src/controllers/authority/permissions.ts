// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/permissions.ts';
import type { PermissionNames } from '../../serving/permission-names.ts';
import { EVENTS_IN_DEFAULT, READ_CLUSTER_SIGNERS, onSecrets } from '../../serving/rules.ts';

/**
 * What the authority's roles hold: it sees no request, and as long as it rotates no CA it changes no
 * Secret and reads no bundle. `create secrets` cannot be narrowed by name,
 * which is why keys live in a namespace without ServiceAccounts and workloads of ours.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const namespaces = [...new Set(names.secrets.map(({ namespace }) => namespace))];
  return [
    READ_CLUSTER_SIGNERS,
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
    ...onSecrets(names, ['get', 'list', 'watch']),
    EVENTS_IN_DEFAULT,
  ];
}
