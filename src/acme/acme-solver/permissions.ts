// SPDX-License-Identifier: Apache-2.0
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, CHALLENGES } from '#api/acme/names.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  onSecrets,
  readPolicies,
} from '#component/rbac/rules.ts';

/** Namespace of routes. `kustomization.yaml` and the chart have the same value. */
const DEFAULT_NAMESPACE = 'countersign-system';

/** Policies on who chooses its credentials and Challenges, and on itself. */
const POLICIES = [
  'countersign-acme-cluster-signers',
  'countersign-acme-account-keys',
  'countersign-acme-orders',
  'countersign-acme-challenge-status',
  'countersign-acme-ingresses',
  'countersign-acme-http-routes',
  'countersign-component-metadata',
  'countersign-events',
];

/**
 * Returns the permissions of the component that presents Challenges. It reads DNS credentials by
 * the names of their Secrets. It creates routes only in the namespace of the components. It reads
 * no account key, no Order, and no request. It writes only `status.solver`: a policy protects the
 * rest of the status.
 *
 * @param ownNamespace - namespace of routes
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
      apiGroups: [provider],
      resources: [solver],
      verbs: ['create'],
    })),
    onRoutes('networking.k8s.io', 'ingresses'),
    onRoutes('gateway.networking.k8s.io', 'httproutes'),
    EVENTS_EVERYWHERE,
    readPolicies(names, POLICIES),
    ...onLeaderLease(names, 'acme-solver'),
  ];
}
