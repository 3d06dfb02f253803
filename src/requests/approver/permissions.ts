// SPDX-License-Identifier: Apache-2.0
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { EVERY_ACME_DERIVED_NAME } from '#api/acme/names.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  onRequests,
  onSigners,
  onMemberLeases,
  readPolicies,
  readAcmeSigners,
  readExternalSigners,
  readSigners,
} from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the approver: it reads no Secret and no bundle, and it does not sign.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    readAcmeSigners(names),
    readExternalSigners(),
    ...onRequests(CSR_RESOURCE, 'approval'),
    ...onSigners(withAcme(names), 'approve'),
    EVENTS_IN_DEFAULT,
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-acme-cluster-signers',
      'countersign-external-cluster-signers',
      'countersign-request-metadata',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onMemberLeases(names),
  ];
}

/** Adds the derived names of AcmeSigners if namespaced signers are served. */
function withAcme(names: PermissionNames): PermissionNames {
  const derived = names.namespacedSigners === true ? [EVERY_ACME_DERIVED_NAME] : [];
  return { ...names, signerNames: [...names.signerNames, ...derived] };
}
