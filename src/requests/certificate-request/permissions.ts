// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onCaSecrets,
  onMemberLeases,
  readPolicies,
  readToSign,
} from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the component. It approves nothing, which takes the verb `approve` on
 * signers.cert-manager.io. That resource has no `sign` check. Its Events are in the namespaces of
 * their requests.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    ...readToSign(names, CERTIFICATE_REQUEST_RESOURCE),
    EVENTS_EVERYWHERE,
    ...onCaSecrets(names),
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-certificate-request-identity',
      'countersign-certificate-request-spec',
      'countersign-certificate-request-approval',
      'countersign-certificate-request-answers',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onMemberLeases(names),
  ];
}
