// SPDX-License-Identifier: Apache-2.0
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import { SINGLETON } from '#api/operator/installation.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import { EVENTS_IN_DEFAULT, onLeaderLease, readPolicies } from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the operator's own work. Those on installed objects follow from a
 * Countersign (`src/install/operator/rules.ts`). The operator checks them before each installation,
 * and a condition names missing ones.
 */
export function permissions({
  leases,
}: Pick<PermissionNames, 'leases'>): readonly PermissionRule[] {
  const { group, plural } = COUNTERSIGNS;
  return [
    { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch'] },
    {
      apiGroups: [group],
      resources: [`${plural}/status`],
      resourceNames: [SINGLETON],
      verbs: ['patch'],
    },
    EVENTS_IN_DEFAULT,
    readPolicies({ leases }, ['countersign-operator', 'countersign-events']),
    ...onLeaderLease({ signerNames: [], bundles: [], secrets: [], leases }, 'operator'),
  ];
}
