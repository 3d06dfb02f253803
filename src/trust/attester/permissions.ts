// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_CLUSTER_SIGNERS,
  onBundles,
  onSigners,
  onLeaderLease,
  readPolicies,
} from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the attester, which reads no Secret. RBAC cannot restrict `create` by
 * name, so the verb `attest` does. `attest` does not cover deletion, so `resourceNames` does.
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
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'attester'),
  ];
}
