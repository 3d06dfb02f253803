// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP } from '../../api/acme/names.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  onSecrets,
  READ_CLUSTER_SIGNERS,
} from '../../runtime/rbac/rules.ts';

const READ = ['get', 'list', 'watch'] as const;

const acme = (resources: readonly string[], verbs: readonly string[]): PermissionRule => ({
  ...{ apiGroups: [ACME_GROUP], resources, verbs },
});

/**
 * The permissions of the acme component's roles: the keys of accounts, by name, and its own Orders and Challenges. It
 * reads no CA key and no credential of a solver. ClusterSigners are read for their signer names, which are left to them.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const namespaced = names.namespacedSigners === true;
  return [
    READ_CLUSTER_SIGNERS,
    acme(['acmeclustersigners', ...(namespaced ? ['acmesigners'] : [])], READ),
    acme(['acmeclustersigners/status', ...(namespaced ? ['acmesigners/status'] : [])], ['update']),
    acme(['orders'], [...READ, 'create', 'delete']),
    // patch: the finalizer of what was cleaned up.
    acme(['challenges'], [...READ, 'create', 'patch', 'delete']),
    acme(['orders/status', 'challenges/status'], ['update']),
    ...onSecrets(names, READ),
    EVENTS_EVERYWHERE,
    ...onLeaderLease(names, 'acme'),
  ];
}
