// SPDX-License-Identifier: Apache-2.0
import { CSR_RESOURCE } from '#api/request/csr.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  onCaSecrets,
  onMemberLeases,
  onSigners,
  readPolicies,
  readToSign,
} from '#component/rbac/rules.ts';

/** Returns the permissions of the signer: it reads CA Secrets and does not approve. */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    ...readToSign(names, CSR_RESOURCE),
    ...onSigners(names, 'sign'),
    ...onCaSecrets(names),
    EVENTS_IN_DEFAULT,
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-request-metadata',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onMemberLeases(names),
  ];
}
