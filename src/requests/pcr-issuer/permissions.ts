// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { TO_READ_RECORDS } from '../recording/facts-access.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onCaSecrets,
  onMemberLeases,
  onSigners,
  readPodsAndServices,
  readPolicies,
  readToSign,
} from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the pcr-issuer. Its Events regard pods, so it may write them in every
 * namespace. It cannot access CertificateSigningRequests. It reads pods and Services only if a
 * signer needs their names. It reads the policies that guard its requests.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    ...readToSign(names, { group: 'certificates.k8s.io', plural: 'podcertificaterequests' }),
    ...onSigners(names, 'sign'),
    ...readPodsAndServices(names),
    ...(names.ledgerFacts === true ? [TO_READ_RECORDS] : []),
    EVENTS_EVERYWHERE,
    ...onCaSecrets(names),
    readPolicies(names, [
      'countersign-cluster-signers',
      'countersign-pod-certificate-requests',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onMemberLeases(names),
  ];
}
