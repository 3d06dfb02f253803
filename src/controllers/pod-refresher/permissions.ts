// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_GROUP } from '../../api/request/certificate-request.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { TO_READ_RECORDS } from '../../runtime/recording/facts.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import { EVENTS_EVERYWHERE, onLeaderLease, readPolicies } from '../../runtime/rbac/rules.ts';

const SEE = ['list', 'watch'] as const;

const WORKLOADS = ['deployments', 'statefulsets', 'daemonsets'] as const;

/**
 * The permissions of the component that restarts workloads. RBAC cannot say which fields a patch may change, nor that a
 * namespace must have opted in: the policies `countersign-refreshed-workloads` and `countersign-refreshed-pods` do. It reads
 * no Secret but those that an administrator names.
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
    ...onRefreshSecrets(names),
    ...(names.ledgerFacts === true ? [TO_READ_RECORDS] : []),
    EVENTS_EVERYWHERE,
    readPolicies(names, [
      'countersign-refreshed-workloads',
      'countersign-refreshed-pods',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'pod-refresher'),
  ];
}

/** RBAC grants list and watch of a named object for `fieldSelector=metadata.name=<name>` only. */
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
