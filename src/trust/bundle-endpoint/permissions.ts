// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { READ_BUNDLES, READ_CLUSTER_SIGNERS } from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the component: it reads bundles and ClusterSigners. It writes nothing,
 * records no Events, and has no Lease and no Secret.
 */
export function permissions(): readonly PermissionRule[] {
  return [READ_CLUSTER_SIGNERS, READ_BUNDLES];
}
