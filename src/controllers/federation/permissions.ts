// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_CLUSTER_SIGNERS,
  onBundles,
  onLeaderLease,
  readPolicies,
} from '../../runtime/rbac/rules.ts';
import { federatedBundleName } from '../../api/object/federated-bundle.ts';

/**
 * The permissions of the component that fetches bundles of other trust domains: their ClusterTrustBundles by name, and
 * none that names a signer, since it has no verb `attest`. Server-side apply asks for `create` by name.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { federated = [] } = names;
  return [
    READ_CLUSTER_SIGNERS,
    READ_BUNDLES,
    ...onBundles(federated.map(federatedBundleName), ['create', 'patch', 'delete']),
    EVENTS_IN_DEFAULT,
    readPolicies(names, ['countersign-federated-bundles', 'countersign-events']),
    ...onLeaderLease(names, 'federation'),
  ];
}
