// SPDX-License-Identifier: Apache-2.0
import { isRecord, type ManagedObject } from '../../reconciling/objects/managed-object.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { merged, onObject } from '../operator/managed-rules.ts';

/** What identifies an object. */
export type ObjectIdentity = Pick<ManagedObject, 'apiVersion' | 'kind' | 'metadata'>;

/**
 * The permissions that installing a release takes: its objects by name, and all that its roles grant, so that RBAC's own
 * check of escalations lets them be made and healed. No `escalate`, no `bind`.
 */
export function releaseRules(objects: readonly ManagedObject[]): readonly PermissionRule[] {
  return merged([...objects.flatMap(onObject), ...grantedBy(objects)]);
}

/** What the roles among the objects grant. */
export function grantedBy(objects: readonly ManagedObject[]): readonly PermissionRule[] {
  return merged(
    objects
      .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
      .flatMap(({ metadata: { namespace }, rules }) =>
        (Array.isArray(rules) ? (rules as readonly unknown[]) : [])
          .filter(isRecord)
          .map((rule) => ({
            ...(rule as unknown as PermissionRule),
            ...(namespace === undefined ? {} : { namespace }),
          })),
      ),
  );
}
