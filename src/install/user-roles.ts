// SPDX-License-Identifier: Apache-2.0
/**
 * The ClusterRoles of the users of signers, as Kubernetes' page for authors of signers names them:
 * requesters of CertificateSigningRequests and consumers of ClusterTrustBundles. An installation
 * binds them to no subject. https://kubernetes.io/docs/tasks/tls/develop-custom-signer/
 */
import { CSR_RESOURCE } from '#api/request/csr.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { READ_BUNDLES } from '#component/rbac/rules.ts';
import { LABELS } from './names.ts';
import type { Manifest } from './roles.ts';

/** Creates CertificateSigningRequests and reads all of them, which hold public keys only. */
const REQUESTER_ROLE = 'countersign-csr-requester';

/** Reads ClusterTrustBundles, where `system:cluster-trust-bundle-discovery` does not grant it. */
const CONSUMER_ROLE = 'countersign-bundle-consumer';

const REQUESTS: PermissionRule = {
  apiGroups: [CSR_RESOURCE.group],
  resources: [CSR_RESOURCE.plural],
  verbs: ['create', 'get', 'list', 'watch'],
};

/** The rules of both roles. The creator of a role needs them. */
export const USER_RULES: readonly PermissionRule[] = [REQUESTS, READ_BUNDLES];

/** File of the user roles, beside those of the components. */
export const USER_ROLES_FILE = 'users.yaml';

/** Returns the ClusterRoles of requesters and consumers, without bindings. */
export function userRoles(): readonly Manifest[] {
  return [
    clusterRole(
      REQUESTER_ROLE,
      'Bind it to users who request certificates by CertificateSigningRequests.',
      REQUESTS,
    ),
    clusterRole(
      CONSUMER_ROLE,
      'Bind it to users who read ClusterTrustBundles. Kubelets and ServiceAccounts can read them already.',
      READ_BUNDLES,
    ),
  ];
}

function clusterRole(name: string, description: string, rule: PermissionRule): Manifest {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name,
      labels: LABELS,
      annotations: { 'kubernetes.io/description': description },
    },
    rules: [{ ...rule }],
  };
}
