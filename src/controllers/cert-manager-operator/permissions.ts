// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_DEPLOYMENTS,
  releaseMapOf,
} from '../../api/operator/cert-manager-deployment.ts';
import { SINGLETON } from '../../api/operator/installation.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import { EVENTS_IN_DEFAULT, onLeaderLease, readPolicies } from '../../runtime/rbac/rules.ts';

/** What the rules name. */
export interface CertManagerOperatorNames extends Pick<PermissionNames, 'leases'> {
  /** Where the releases are; undefined: nowhere. */
  readonly namespace: string;
  /** Of the releases that it may read. */
  readonly versions: readonly string[];
}

/**
 * The permissions of the operator's own work. Those on what it installs follow from the releases
 * (`src/manifests/cert-manager`).
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
      ...{ apiGroups: [group], resources: [`${plural}/status`] },
      ...{ resourceNames: [SINGLETON], verbs: ['patch'] },
    },
    {
      ...{ apiGroups: [''], resources: ['configmaps'], namespace },
      ...{ resourceNames: versions.map(releaseMapOf), verbs: ['get'] },
    },
    EVENTS_IN_DEFAULT,
    // It is alone in its namespace: no policy need hold its Leases.
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
