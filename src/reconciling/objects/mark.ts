// SPDX-License-Identifier: Apache-2.0
import { digestOf } from './digest.ts';
import { ruleOf } from './kinds.ts';
import { titleOf, type ManagedObject, type ObjectOwner } from './managed-object.ts';

/** The label of every object of an installation, by which it is watched. */
export const MANAGED_BY = 'operator.countersign.dev/managed-by';

/**
 * The annotation with the digest of what was applied. It differs when a field is no longer desired, which a comparison
 * of subsets cannot see; server-side apply then takes the field away.
 */
const APPLIED = 'operator.countersign.dev/applied';

/** Whose the objects are. */
export interface Owner extends ObjectOwner {
  /** Value of the label, such as `countersign`. */
  readonly label: string;
}

/** The object with our label, the digest, and the owner where its kind has one. */
export function marked(object: ManagedObject, { label, ...reference }: Owner): ManagedObject {
  const { metadata } = object;
  const owners = ruleOf(object).owned ? { ownerReferences: [reference] } : {};
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [MANAGED_BY]: label },
      annotations: { ...metadata.annotations, [APPLIED]: digestOf(object).slice(0, 16) },
      ...owners,
    },
  };
}

/** Whether it has been made, or adopted, by an operator before. */
export function isMarked({ metadata }: Pick<ManagedObject, 'metadata'>, label: string): boolean {
  return metadata.labels?.[MANAGED_BY] === label;
}

/** What of these objects has this owner, and is not desired any longer. */
export function superfluous(
  there: readonly ManagedObject[],
  desired: readonly ManagedObject[],
  { uid }: Pick<Owner, 'uid'>,
): readonly ManagedObject[] {
  const wanted = new Set(desired.map(titleOf));
  return there.filter(
    (each) =>
      each.metadata.deletionTimestamp === undefined &&
      each.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true &&
      !wanted.has(titleOf(each)),
  );
}
