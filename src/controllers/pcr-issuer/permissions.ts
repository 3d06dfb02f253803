// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onCaSecrets,
  onMemberLeases,
  onSigners,
  readPolicies,
  readToSign,
} from '../../runtime/rbac/rules.ts';

/**
 * The permissions of the pcr-issuer's roles. Its Events regard pods, so it may write them wherever pods are.
 * It has no access to CertificateSigningRequests. It reads the policies that guard its requests.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    ...readToSign(names, { group: 'certificates.k8s.io', plural: 'podcertificaterequests' }),
    ...onSigners(names, 'sign'),
    EVENTS_EVERYWHERE,
    ...onCaSecrets(names),
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-pod-certificate-requests',
      'countersign-events',
    ]),
    ...onMemberLeases(names),
  ];
}
