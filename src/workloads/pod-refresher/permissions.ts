// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_GROUP } from '#api/request/certificate-request.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { TO_READ_RECORDS } from '#requests/recording/facts-access.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  READ_CLUSTER_SIGNERS,
  readPolicies,
} from '#component/rbac/rules.ts';

const SEE = ['list', 'watch'] as const;

const WORKLOADS = ['deployments', 'statefulsets', 'daemonsets'] as const;

/**
 * Returns the permissions of the component that restarts workloads. RBAC can restrict neither the
 * fields of a patch nor the namespaces to those that opted in. The policies
 * `countersign-refreshed-workloads` and `countersign-refreshed-pods` do.
 *
 * It reads only Secrets that an administrator names. ClusterSigners show distrusted CAs.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    { apiGroups: [''], resources: ['namespaces'], verbs: SEE },
    { apiGroups: ['apps'], resources: WORKLOADS, verbs: [...SEE, 'patch'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
    { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: SEE },
    {
      apiGroups: [CERT_MANAGER_GROUP],
      resources: ['certificates', 'certificaterequests'],
      verbs: SEE,
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['podcertificaterequests', 'clustertrustbundles'],
      verbs: SEE,
    },
    { ...READ_CLUSTER_SIGNERS, verbs: SEE },
    ...onRefreshSecrets(names),
    ...(names.ledgerFacts === true ? [TO_READ_RECORDS] : []),
    EVENTS_EVERYWHERE,
    readPolicies(names, [
      'countersign-refreshed-workloads',
      'countersign-refreshed-pods',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'pod-refresher'),
  ];
}

/**
 * Returns rules by name. RBAC grants list and watch of a named object for
 * `fieldSelector=metadata.name=<name>` only.
 */
function onRefreshSecrets({ refreshSecrets = [] }: PermissionNames): readonly PermissionRule[] {
  const byNamespace = Map.groupBy(refreshSecrets, ({ namespace }) => namespace);
  return [...byNamespace].map(([namespace, found]) => ({
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [...new Set(found.map(({ name }) => name))],
    verbs: SEE,
    namespace,
  }));
}
