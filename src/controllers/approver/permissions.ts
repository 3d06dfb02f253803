// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  onSigners,
  onMemberLeases,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/** What the approver's roles hold: it reads no Secret and no bundle, and it does not sign. */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['get', 'list', 'watch'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['update'],
    },
    ...onSigners(names, 'approve'),
    EVENTS_IN_DEFAULT,
    ...onMemberLeases(names),
  ];
}
