// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_GROUP,
  CERTIFICATE_REQUEST_RESOURCE,
} from '../../api/request/certificate-request.ts';
import { CSR_RESOURCE } from '../../api/request/csr.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  readAcmeSigners,
  readPolicies,
  readSigners,
} from '../../runtime/rbac/rules.ts';
import { CURSORS } from './cursor.ts';

const SEE = ['list', 'watch'] as const;

/**
 * The permissions of the component that tells others what happens: it sees requests and signers, and writes how far it has
 * got. It reads no Secret and decides nothing. Pods it reads, where it may, one at a time: to see whether they are still there.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { leases, notifiedPods = false } = names;
  return [
    readSigners(names),
    { ...readAcmeSigners(names), verbs: SEE },
    {
      apiGroups: [CSR_RESOURCE.group],
      resources: [CSR_RESOURCE.plural, 'podcertificaterequests'],
      verbs: SEE,
    },
    {
      apiGroups: [CERT_MANAGER_GROUP],
      resources: [CERTIFICATE_REQUEST_RESOURCE.plural],
      verbs: SEE,
    },
    ...(notifiedPods ? [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] : []),
    ...(leases === undefined ? [] : inNamespace(leases.namespace)),
    readPolicies(names, ['countersign-events']),
    ...onLeaderLease(names, 'notifier'),
  ];
}

/** Its cursors, and Events about them: a target that is gone is named there. */
function inNamespace(namespace: string): readonly PermissionRule[] {
  const cursors = {
    ...{ apiGroups: [''], resources: ['configmaps'], resourceNames: [CURSORS] },
    verbs: ['get', 'patch'],
  };
  return [
    { ...cursors, namespace },
    { ...EVENTS_EVERYWHERE, namespace },
  ];
}
