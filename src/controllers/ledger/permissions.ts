// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import { onLeaderLease, readPolicies } from '../../runtime/rbac/rules.ts';
import { CHECKPOINTS } from './checkpoints.ts';
import { LOG_KEY_SECRET } from './log-key.ts';

/**
 * The permissions of the component that keeps the ledger: it reads no CA Secret, signs nothing and approves nothing. Its own
 * key and its checkpoints are in two objects that it neither makes nor removes.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { leases } = names;
  const own = leases === undefined ? [] : ownObjects(leases.namespace);
  return [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    ...own,
    readPolicies(names, []),
    ...onLeaderLease(names, 'ledger'),
  ];
}

function ownObjects(namespace: string): readonly PermissionRule[] {
  const of = (resource: string, name: string, verbs: readonly string[]): PermissionRule => ({
    apiGroups: [''],
    resources: [resource],
    resourceNames: [name],
    verbs,
    namespace,
  });
  return [
    of('secrets', LOG_KEY_SECRET, ['get', 'update']),
    of('configmaps', CHECKPOINTS, ['get', 'patch']),
  ];
}
