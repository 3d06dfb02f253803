// SPDX-License-Identifier: Apache-2.0
import { isRecord } from '#base/record.ts';
import { type ManagedObject, listOf } from '#kube/apply/objects/managed-object.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { merged, onObject } from '../operator/managed-rules.ts';

/** The fields that identify an object. */
export type ObjectIdentity = Pick<ManagedObject, 'apiVersion' | 'kind' | 'metadata'>;

/**
 * Returns the permissions to install a release: its objects by name, and all permissions in its
 * roles, so that RBAC's escalation check lets the operator create and restore them. It includes
 * neither `escalate` nor `bind`.
 */
export function releaseRules(objects: readonly ManagedObject[]): readonly PermissionRule[] {
  return merged([...objects.flatMap(onObject), ...grantedBy(objects)]);
}

/** Returns the permissions that the roles among the objects grant. */
export function grantedBy(objects: readonly ManagedObject[]): readonly PermissionRule[] {
  return merged(
    objects
      .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
      .flatMap(({ metadata: { namespace }, rules }) =>
        listOf(rules)
          .filter(isRecord)
          .map((rule) => ({
            // The release is known by its sum, so its rules have the shape of RBAC.
            ...(rule as unknown as PermissionRule),
            ...(namespace === undefined ? {} : { namespace }),
          })),
      ),
  );
}
