// SPDX-License-Identifier: Apache-2.0
import { CSR_RESOURCE } from '../../api/request/csr.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  onRequests,
  onSigners,
  onMemberLeases,
  readPolicies,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/** What the approver's roles hold: it reads no Secret and no bundle, and it does not sign. */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    ...onRequests(CSR_RESOURCE, 'approval'),
    ...onSigners(names, 'approve'),
    EVENTS_IN_DEFAULT,
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-request-metadata',
      'countersign-events',
    ]),
    ...onMemberLeases(names),
  ];
}
