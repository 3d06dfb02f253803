// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { READ_BUNDLES, READ_CLUSTER_SIGNERS } from '../../runtime/rbac/rules.ts';

/**
 * The permissions of the component that serves bundles to other trust domains: it reads what is published, and who says
 * what may be. It writes nothing, has no Lease, records no Events and reads no Secret.
 */
export function permissions(): readonly PermissionRule[] {
  return [READ_CLUSTER_SIGNERS, READ_BUNDLES];
}
