// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  READ_BUNDLES,
  onMemberLeases,
  onSecrets,
  onSignerSecrets,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/**
 * What the certificate-request component's roles hold. It approves nothing: that is the verb `approve`
 * on signers.cert-manager.io. Nobody asks for `sign` there. Its Events stand beside their requests.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    READ_BUNDLES,
    {
      apiGroups: ['cert-manager.io'],
      resources: ['certificaterequests'],
      verbs: ['get', 'list', 'watch'],
    },
    {
      apiGroups: ['cert-manager.io'],
      resources: ['certificaterequests/status'],
      verbs: ['update'],
    },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ...onSecrets(names, ['get', 'list', 'watch']),
    ...onSignerSecrets(names),
    ...onMemberLeases(names),
  ];
}
