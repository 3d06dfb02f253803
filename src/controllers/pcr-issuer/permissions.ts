// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { TO_READ_RECORDS } from '../../runtime/recording/facts.ts';
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
 * It has no access to CertificateSigningRequests. It reads pods and Services only where a signer asks for their names. It reads the policies that guard its requests.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    ...readToSign(names, { group: 'certificates.k8s.io', plural: 'podcertificaterequests' }),
    ...onSigners(names, 'sign'),
    ...onPods(names),
    ...(names.ledgerFacts === true ? [TO_READ_RECORDS] : []),
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

/** RBAC cannot say which pods: any may have a volume of a signer. Services are watched. */
function onPods({ podServices }: PermissionNames): readonly PermissionRule[] {
  if (podServices !== true) return [];
  return [
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
  ];
}
