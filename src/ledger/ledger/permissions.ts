// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_GROUP } from '#api/request/certificate-request.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  onLeaderLease,
  onSecrets,
  readPolicies,
  readSigners,
} from '#component/rbac/rules.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import { CHECKPOINTS, FINDINGS, FRONT_PROXY, LOG_KEY_SECRET, UPLOADS } from './objects.ts';

/**
 * Returns the permissions of the ledger. It reads no CA Secret, signs no certificate and approves
 * nothing. Its key, its checkpoints, its findings and the uploads are in four objects that it
 * neither creates nor deletes.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { leases } = names;
  const own = leases === undefined ? [] : ownObjects(leases.namespace);
  return [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ...(names.aggregatedApi === true ? [READ_FRONT_PROXY] : []),
    ...own,
    ...toMonitor(names),
    ...toServeLists(names),
    readPolicies(names, [
      'countersign-ledger-objects',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'ledger'),
  ];
}

/** Reads the CA of the client certificate with which the API server forwards requests. */
const READ_FRONT_PROXY: PermissionRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [FRONT_PROXY.name],
  verbs: ['get'],
  namespace: FRONT_PROXY.namespace,
};

const SEE = ['list', 'watch'] as const;

/**
 * Reads the objects that contain certificates. RBAC grants list and watch of a named object for
 * `fieldSelector=metadata.name=<name>` only.
 */
function toMonitor(names: PermissionNames): readonly PermissionRule[] {
  const { monitoredSecrets = [] } = names;
  return [
    readSigners(names),
    {
      apiGroups: [CSR_RESOURCE.group],
      resources: [CSR_RESOURCE.plural, 'podcertificaterequests'],
      verbs: SEE,
    },
    { apiGroups: [CERT_MANAGER_GROUP], resources: ['certificaterequests'], verbs: SEE },
    ...onSecrets({ secrets: monitoredSecrets }, SEE),
    EVENTS_IN_DEFAULT,
  ];
}

/** Reads the ConfigMap of CRLs beside each CA Secret, but no Secret. */
function toServeLists({ secrets }: PermissionNames): readonly PermissionRule[] {
  const byNamespace = Map.groupBy(secrets, ({ namespace }) => namespace);
  return [...byNamespace].map(([namespace, found]) => ({
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [...new Set(found.map(({ name }) => crlConfigMapName(name)))],
    verbs: SEE,
    namespace,
  }));
}

function ownObjects(namespace: string): readonly PermissionRule[] {
  const of = (resource: string, name: string, verbs: readonly string[]): PermissionRule => ({
    apiGroups: [''],
    resources: [resource],
    resourceNames: [name],
    verbs,
    namespace,
  });
  return [
    of('secrets', LOG_KEY_SECRET, ['get', 'update']),
    of('configmaps', CHECKPOINTS, ['get', 'patch']),
    of('configmaps', FINDINGS, ['get', 'patch']),
    of('configmaps', UPLOADS, SEE),
  ];
}
