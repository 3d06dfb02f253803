// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_GROUP,
  CERTIFICATE_REQUEST_RESOURCE,
} from '#api/request/certificate-request.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  onLeaderLease,
  readAcmeSigners,
  readPolicies,
  readSigners,
} from '#component/rbac/rules.ts';
import { CURSORS } from './objects.ts';

const SEE = ['list', 'watch'] as const;

/**
 * Returns the permissions of the notifier. It reads requests and signers, and writes its cursors.
 * It reads no Secret by the API, because the kubelet mounts those of the targets, and it decides
 * nothing. If permitted, it reads pods one at a time, to find out whether they still exist.
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
    readPolicies(names, [
      'countersign-notifier-objects',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'notifier'),
  ];
}

/** Allows its cursors, and Events about them that name retired targets. */
function inNamespace(namespace: string): readonly PermissionRule[] {
  const cursors = {
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [CURSORS],
    verbs: ['get', 'patch'],
  };
  return [
    { ...cursors, namespace },
    { ...EVENTS_EVERYWHERE, namespace },
  ];
}
