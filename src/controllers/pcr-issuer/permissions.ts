// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import { POLICY_NAME } from './admission-policy.ts';
import {
  READ_BUNDLES,
  onSecrets,
  onSignerSecrets,
  onSigners,
  onMemberLeases,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/**
 * What the pcr-issuer's roles hold. Its Events regard pods, so it may write them wherever pods are;
 * CertificateSigningRequests it does not even see. It reads the one policy that guards its requests.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    READ_BUNDLES,
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['podcertificaterequests'],
      verbs: ['get', 'list', 'watch'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['podcertificaterequests/status'],
      verbs: ['update'],
    },
    ...onSigners(names, 'sign'),
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ...onSecrets(names, ['get', 'list', 'watch']),
    ...onSignerSecrets(names),
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
      resourceNames: [POLICY_NAME],
      verbs: ['get'],
    },
    ...onMemberLeases(names),
  ];
}
