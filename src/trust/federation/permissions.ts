// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_CLUSTER_SIGNERS,
  onBundles,
  onLeaderLease,
  readPolicies,
} from '#component/rbac/rules.ts';
import { federatedBundleName } from '#api/object/federated-bundle.ts';

/**
 * Returns the permissions of the component. It writes the ClusterTrustBundles of foreign trust
 * domains by name. Without the verb `attest` it cannot write one that names a signer. Server-side
 * apply requires `create` by name.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { federated = [] } = names;
  return [
    READ_CLUSTER_SIGNERS,
    READ_BUNDLES,
    ...onBundles(federated.map(federatedBundleName), ['create', 'patch', 'delete']),
    EVENTS_IN_DEFAULT,
    readPolicies(names, [
      'countersign-federated-bundles',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'federation'),
  ];
}
