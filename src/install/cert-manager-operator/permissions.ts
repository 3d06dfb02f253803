// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_DEPLOYMENTS, releaseMapOf } from '#api/operator/cert-manager-deployment.ts';
import { SINGLETON } from '#api/operator/installation.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import { EVENTS_IN_DEFAULT, onLeaderLease, readPolicies } from '#component/rbac/rules.ts';

/** Names in the rules. */
export interface CertManagerOperatorNames extends Pick<PermissionNames, 'leases'> {
  /** Namespace of the releases, or undefined without one. */
  readonly namespace: string;
  /** Versions of the releases that it may read. */
  readonly versions: readonly string[];
}

/**
 * Returns the permissions of the operator's own work. Those on installed objects follow from the
 * releases (`src/install/cert-manager-operator`).
 */
export function permissions({
  leases,
  namespace,
  versions,
}: CertManagerOperatorNames): readonly PermissionRule[] {
  const { group, plural } = CERT_MANAGER_DEPLOYMENTS;
  return [
    { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch'] },
    {
      apiGroups: [group],
      resources: [`${plural}/status`],
      resourceNames: [SINGLETON],
      verbs: ['patch'],
    },
    {
      apiGroups: [''],
      resources: ['configmaps'],
      namespace,
      resourceNames: versions.map(releaseMapOf),
      verbs: ['get'],
    },
    EVENTS_IN_DEFAULT,
    // It is alone in its namespace, so no policy need restrict its Leases.
    readPolicies({ leases: undefined }, [
      'countersign-cert-manager-operator',
      'countersign-cert-manager-events',
    ]),
    ...onLeaderLease(
      { signerNames: [], bundles: [], secrets: [], leases },
      'cert-manager-operator',
    ),
  ];
}
