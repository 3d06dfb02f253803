// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_GROUP } from '../../api/request/certificate-request.ts';
import { CSR_RESOURCE } from '../../api/request/csr.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  onLeaderLease,
  onSecrets,
  readPolicies,
  readSigners,
} from '../../runtime/rbac/rules.ts';
import { FINDINGS } from './monitor/unrecorded.ts';
import { UPLOADS } from './monitor/watches.ts';
import { crlConfigMapName } from '../../api/revocation/revocation.ts';
import { FRONT_PROXY } from './api/front-proxy-source.ts';
import { CHECKPOINTS } from './checkpoints.ts';
import { LOG_KEY_SECRET } from './log-key.ts';

/**
 * The permissions of the component that keeps the ledger: it reads no CA Secret, signs nothing and approves nothing. Its own
 * key and its checkpoints are in two objects that it neither makes nor removes.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { leases } = names;
  const own = leases === undefined ? [] : ownObjects(leases.namespace);
  return [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [FRONT_PROXY.name],
      verbs: ['get'],
      namespace: FRONT_PROXY.namespace,
    },
    ...own,
    ...toMonitor(names),
    ...toServeLists(names),
    readPolicies(names, ['countersign-events']),
    ...onLeaderLease(names, 'ledger'),
  ];
}

const SEE = ['list', 'watch'] as const;

/** What certificates show up in. RBAC grants list and watch of a named object for `fieldSelector=metadata.name=<name>` only. */
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

/** The ConfigMap of CRLs beside each CA Secret: it serves them, and reads no Secret. */
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
