// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_REQUEST_RESOURCE } from '../../api/request/certificate-request.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onCaSecrets,
  onMemberLeases,
  readPolicies,
  readToSign,
} from '../../runtime/rbac/rules.ts';

/**
 * What the certificate-request component's roles hold. It approves nothing: that is the verb `approve`
 * on signers.cert-manager.io. Nobody asks for `sign` there. Its Events stand beside their requests.
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
    ]),
    ...onMemberLeases(names),
  ];
}
