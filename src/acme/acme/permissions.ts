// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP, EVERY_ACME_DERIVED_NAME } from '#api/acme/names.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  CERT_MANAGER_GROUP,
  CERTIFICATE_REQUEST_RESOURCE,
} from '#api/request/certificate-request.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  onRequests,
  onSecrets,
  onSigners,
  readPolicies,
  READ_CLUSTER_SIGNERS,
} from '#component/rbac/rules.ts';

const READ = ['get', 'list', 'watch'] as const;

const acme = (resources: readonly string[], verbs: readonly string[]): PermissionRule => ({
  apiGroups: [ACME_GROUP],
  resources,
  verbs,
});

/**
 * Returns the permissions of the acme component's roles: the keys of accounts, by name, and its own
 * Orders and Challenges. It reads no CA key and no solver credential. It reads ClusterSigners to
 * leave their signer names to them.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    READ_CLUSTER_SIGNERS,
    acme(['acmeclustersigners'], READ),
    acme(['acmeclustersigners/status'], ['update']),
    acme(['orders'], [...READ, 'create', 'delete']),
    // `patch` removes the finalizer after the clean-up. One `deletecollection` deletes all
    // Challenges of an Order.
    acme(['challenges'], [...READ, 'create', 'patch', 'deletecollection']),
    acme(['orders/status', 'challenges/status'], ['update']),
    ...onSecrets(names, READ),
    ...onRequests(CSR_RESOURCE, 'status'),
    ...onRequests(CERTIFICATE_REQUEST_RESOURCE, 'status'),
    ...signing(names.signerNames),
    ...(names.renewsCertificates === true ? ON_CERTIFICATES : []),
    readPolicies(
      names,
      names.renewsCertificates === true ? [...POLICIES, RENEWAL_POLICY] : POLICIES,
    ),
    EVENTS_EVERYWHERE,
    ...onLeaderLease(names, 'acme'),
    ...(names.namespacedSigners === true ? ON_SIGNERS_OF_NAMESPACES : []),
  ];
}

/** Policies on the writers of its kinds, on its own answers, and on itself. */
const POLICIES = [
  'countersign-acme-cluster-signers',
  'countersign-acme-account-keys',
  'countersign-acme-signer-status',
  'countersign-acme-orders',
  'countersign-acme-challenge-status',
  'countersign-acme-revocation',
  'countersign-acme-answers',
  'countersign-certificate-request-identity',
  'countersign-certificate-request-spec',
  'countersign-certificate-request-approval',
  'countersign-request-metadata',
  'countersign-component-metadata',
  'countersign-events',
];

/** Policy that limits which Certificates are marked, and to which change. */
const RENEWAL_POLICY = 'countersign-acme-renewals';

/**
 * RBAC cannot limit which condition an update changes, or of whose Certificates. The policy does.
 */
const ON_CERTIFICATES: readonly PermissionRule[] = [
  { apiGroups: [CERT_MANAGER_GROUP], resources: ['certificates'], verbs: ['get'] },
  { apiGroups: [CERT_MANAGER_GROUP], resources: ['certificates/status'], verbs: ['update'] },
];

const ON_SIGNERS_OF_NAMESPACES: readonly PermissionRule[] = [
  acme(['acmesigners'], READ),
  acme(['acmesigners/status'], ['update']),
  ...signing([EVERY_ACME_DERIVED_NAME]),
];

/**
 * Returns the permission that the API server requires for a change of a CertificateSigningRequest's
 * status.
 */
function signing(signerNames: readonly string[]): readonly PermissionRule[] {
  return onSigners({ signerNames, bundles: [], secrets: [] }, 'sign');
}
