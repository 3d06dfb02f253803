// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  onSecrets,
  onSignerSecrets,
  onSigners,
  onMemberLeases,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/** What the signer's roles hold: it reads CA Secrets and does not approve. */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    READ_BUNDLES,
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['get', 'list', 'watch'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/status'],
      verbs: ['update'],
    },
    ...onSigners(names, 'sign'),
    ...onSecrets(names, ['get', 'list', 'watch']),
    ...onSignerSecrets(names),
    EVENTS_IN_DEFAULT,
    ...onMemberLeases(names),
  ];
}
