// SPDX-License-Identifier: Apache-2.0
import { isGrant } from '#kube/apply/objects/kept-rules.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';

/** The part of the watches that shows whether an object is still there. */
interface LiveObjects {
  readonly isGone: (object: ManagedObject) => boolean;
}

/**
 * Remembers Roles and RoleBindings of former specs until they are gone. Their namespaces are in no
 * present spec, so no other list of this process has them. It knows the specs of this process only.
 */
export interface FormerGrants {
  /** Returns those that are left, and remembers the desired ones for the next spec. */
  readonly besides: (
    desired: readonly ManagedObject[],
    live: LiveObjects,
  ) => readonly ManagedObject[];
}

/** Returns a memory without grants. */
export function createFormerGrants(): FormerGrants {
  let known: readonly ManagedObject[] = [];
  return {
    besides: (desired, live) => {
      const wanted = new Set(desired.map(titleOf));
      const former = known.filter((each) => !wanted.has(titleOf(each)) && !live.isGone(each));
      known = [...former, ...desired.filter(isNamespacedGrant)];
      return former;
    },
  };
}

function isNamespacedGrant(object: ManagedObject): boolean {
  return object.metadata.namespace !== undefined && isGrant(object);
}
