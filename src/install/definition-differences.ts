// SPDX-License-Identifier: Apache-2.0
import { specDifferences } from '#kube/apply/objects/plan-object.ts';
import { type ManagedObject, toManagedObject } from '#kube/apply/objects/managed-object.ts';
import definitions from './operator/definitions.json' with { type: 'json' };

const DEFINITIONS = new Map(
  definitions.map(toManagedObject).map((each) => [each.metadata.name, each]),
);

/**
 * Returns the JSON pointers of the fields in which a definition differs from that of this version.
 * Empty if this version has no such definition.
 */
export function definitionDifferences(live: ManagedObject): readonly string[] {
  const desired = DEFINITIONS.get(live.metadata.name);
  return desired === undefined ? [] : specDifferences(desired, live);
}
