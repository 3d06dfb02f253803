// SPDX-License-Identifier: Apache-2.0
import { COUNTERSIGNS } from '../../api/operator/countersign.ts';
import { SINGLETON } from '../../api/operator/installation.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import { EVENTS_IN_DEFAULT, onLeaderLease, readPolicies } from '../../runtime/rbac/rules.ts';

/**
 * The permissions of the operator's own work. Those on the objects that it installs follow from a Countersign
 * (`src/manifests/operator/rules.ts`): it asks for them before each installation, and a condition names what is missing.
 */
export function permissions({
  leases,
}: Pick<PermissionNames, 'leases'>): readonly PermissionRule[] {
  const { group, plural } = COUNTERSIGNS;
  return [
    { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch'] },
    {
      ...{ apiGroups: [group], resources: [`${plural}/status`] },
      ...{ resourceNames: [SINGLETON], verbs: ['patch'] },
    },
    EVENTS_IN_DEFAULT,
    readPolicies({ leases }, ['countersign-operator', 'countersign-events']),
    ...onLeaderLease({ signerNames: [], bundles: [], secrets: [], leases }, 'operator'),
  ];
}
