// SPDX-License-Identifier: Apache-2.0
import { CSR_RESOURCE } from '../../api/request/csr.ts';
import { EVERY_ACME_DERIVED_NAME } from '../../api/acme/index.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  onRequests,
  onSigners,
  onMemberLeases,
  readPolicies,
  readAcmeSigners,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/** What the approver's roles hold: it reads no Secret and no bundle, and it does not sign. */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    readAcmeSigners(names),
    ...onRequests(CSR_RESOURCE, 'approval'),
    ...onSigners(withAcme(names), 'approve'),
    EVENTS_IN_DEFAULT,
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-acme-cluster-signers',
      'countersign-request-metadata',
      'countersign-events',
    ]),
    ...onMemberLeases(names),
  ];
}

/** With the derived names of AcmeSigners where those of namespaces are served. */
function withAcme(names: PermissionNames): PermissionNames {
  const derived = names.namespacedSigners === true ? [EVERY_ACME_DERIVED_NAME] : [];
  return { ...names, signerNames: [...names.signerNames, ...derived] };
}
