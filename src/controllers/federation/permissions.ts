// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_CLUSTER_SIGNERS,
  onLeaderLease,
  readPolicies,
} from '../../runtime/rbac/rules.ts';
import { federatedBundleName } from '../../api/object/federated-bundle.ts';

/**
 * The permissions of the component that fetches bundles of other trust domains: their ClusterTrustBundles by name, and
 * none that names a signer, since it has no verb `attest`. Server-side apply asks for `create` by name.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    READ_CLUSTER_SIGNERS,
    READ_BUNDLES,
    ...onFederated(names),
    EVENTS_IN_DEFAULT,
    readPolicies(names, ['countersign-federated-bundles', 'countersign-events']),
    ...onLeaderLease(names, 'federation'),
  ];
}

/** No rule without a name: an empty `resourceNames` would mean every bundle. */
function onFederated({ federated = [] }: PermissionNames): readonly PermissionRule[] {
  if (federated.length === 0) return [];
  return [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['clustertrustbundles'],
      resourceNames: federated.map(federatedBundleName),
      verbs: ['create', 'patch', 'delete'],
    },
  ];
}
