// SPDX-License-Identifier: Apache-2.0
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, CHALLENGES } from '../../api/acme/index.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  onSecrets,
  readPolicies,
} from '../../runtime/rbac/rules.ts';

/** Where routes are made; `kustomization.yaml` and the chart say the same. */
const DEFAULT_NAMESPACE = 'countersign-system';

/** The policies that hold who chooses its credentials and what it is to present, and itself. */
const POLICIES = [
  'countersign-acme-cluster-signers',
  'countersign-acme-account-keys',
  'countersign-acme-orders',
  'countersign-acme-challenge-status',
  'countersign-events',
];

/**
 * The permissions of the component that presents Challenges. It reads credentials of DNS by the names of their Secrets,
 * and makes routes in the namespace of the components alone. It reads no account key, no Order and no request, and may
 * write nothing but `status.solver`: a policy sees to the rest of the status.
 *
 * @param ownNamespace - where routes are made
 */
export function permissions(
  names: PermissionNames,
  ownNamespace = names.leases?.namespace ?? DEFAULT_NAMESPACE,
): readonly PermissionRule[] {
  const { group, plural } = CHALLENGES;
  const onKinds = (...resources: readonly string[]): PermissionRule => ({
    apiGroups: [group],
    resources,
    verbs: ['list', 'watch'],
  });
  const onRoutes = (apiGroup: string, resource: string): PermissionRule => ({
    apiGroups: [apiGroup],
    resources: [resource],
    verbs: ['list', 'create', 'patch', 'delete'],
    namespace: ownNamespace,
  });
  return [
    onKinds(plural, ACME_CLUSTER_SIGNERS.plural),
    ...(names.namespacedSigners === true ? [onKinds(ACME_SIGNERS.plural)] : []),
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['patch'] },
    ...onSecrets({ secrets: names.solverSecrets ?? [] }, ['get']),
    ...(names.dnsWebhooks ?? []).map(({ group: provider, solver = '*' }) => ({
      ...{ apiGroups: [provider], resources: [solver], verbs: ['create'] },
    })),
    onRoutes('networking.k8s.io', 'ingresses'),
    onRoutes('gateway.networking.k8s.io', 'httproutes'),
    EVENTS_EVERYWHERE,
    readPolicies(names, POLICIES),
    ...onLeaderLease(names, 'acme-solver'),
  ];
}
