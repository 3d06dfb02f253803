// SPDX-License-Identifier: Apache-2.0
import { EXTERNAL_CLUSTER_SIGNERS } from '#api/external/names.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  onRequests,
  onSigners,
  readExternalSigners,
  readPodsAndServices,
  readPolicies,
  READ_CLUSTER_SIGNERS,
} from '#component/rbac/rules.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';

const PODS = { group: 'certificates.k8s.io', plural: 'podcertificaterequests' };

/**
 * Returns the permissions of the component: no Secret, and no approval. It reads ClusterSigners to
 * leave their signer names to them. The token for the CA comes from the kubelet.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { group, plural } = EXTERNAL_CLUSTER_SIGNERS;
  return [
    READ_CLUSTER_SIGNERS,
    readExternalSigners(),
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['update'] },
    ...onRequests(PODS, 'status'),
    ...onRequests(CSR_RESOURCE, 'status'),
    ...onSigners({ signerNames: names.signerNames, bundles: [], secrets: [] }, 'sign'),
    ...readPodsAndServices(names),
    EVENTS_EVERYWHERE,
    readPolicies(names, [
      'countersign-external-cluster-signers',
      'countersign-external-cluster-signer-vaults',
      'countersign-external-cluster-signer-status',
      'countersign-pod-certificate-requests',
      'countersign-request-metadata',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'external-signer'),
  ];
}
