// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_CLUSTER_SIGNERS,
  onBundles,
  onSigners,
  onLeaderLease,
  readPolicies,
} from '../../runtime/rbac/rules.ts';

/**
 * The permissions of the attester's roles: it reads no Secret. `create` cannot be restricted by name, so the
 * verb `attest` restricts it; `attest` does not restrict deletion of a bundle, so its name does.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    READ_CLUSTER_SIGNERS,
    READ_BUNDLES,
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['clustertrustbundles'],
      verbs: ['create'],
    },
    ...onBundles(names.bundles, ['update', 'delete']),
    ...onSigners(names, 'attest'),
    EVENTS_IN_DEFAULT,
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-cluster-signer-status',
      'countersign-attester-bundles',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'attester'),
  ];
}
