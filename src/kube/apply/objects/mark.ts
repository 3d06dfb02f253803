// SPDX-License-Identifier: Apache-2.0
import { digestOf } from './digest.ts';
import { ruleOf } from './kinds.ts';
import { titleOf, type ManagedObject, type ObjectOwner } from './managed-object.ts';

/** The label of every object of an installation. The operator watches by it. */
export const MANAGED_BY = 'operator.countersign.dev/managed-by';

/**
 * The annotation with the digest of the last applied object. It differs if a field is no longer
 * desired, which a comparison of subsets cannot see. Server-side apply then removes the field.
 */
const APPLIED = 'operator.countersign.dev/applied';

/** The owner of the objects. */
export interface Owner extends ObjectOwner {
  /** Value of the label, such as `countersign`. */
  readonly label: string;
}

/**
 * Returns the object with the operator's label, the digest, and the owner where its kind has one.
 */
export function marked(object: ManagedObject, { label, ...reference }: Owner): ManagedObject {
  const { metadata } = object;
  const owners = ruleOf(object).owned ? { ownerReferences: [reference] } : {};
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [MANAGED_BY]: label },
      annotations: { ...metadata.annotations, [APPLIED]: markOf(object) },
      ...owners,
    },
  };
}

/**
 * Returns the digest with which an object is applied.
 *
 * @param object - without the operator's marks
 */
export function markOf(object: ManagedObject): string {
  return digestOf(object).slice(0, 16);
}

/** Returns the digest of the last applied object, or undefined if no operator has applied it. */
export function appliedDigestOf({ metadata }: Pick<ManagedObject, 'metadata'>): string | undefined {
  return metadata.annotations?.[APPLIED];
}

/** Reports whether the object has the operator's label. */
function hasLabel({ metadata }: Pick<ManagedObject, 'metadata'>, label: string): boolean {
  return metadata.labels?.[MANAGED_BY] === label;
}

/**
 * Reports whether an operator has created or adopted the object. Its label, its digest or its owner
 * shows that: one of them stays if another writer changes the others.
 */
export function isAdopted(object: Pick<ManagedObject, 'metadata'>, owner: Owner): boolean {
  const { ownerReferences = [] } = object.metadata;
  return (
    hasLabel(object, owner.label) ||
    appliedDigestOf(object) !== undefined ||
    ownerReferences.some(({ uid }) => uid === owner.uid)
  );
}

/** Returns those of the objects that have this owner and are no longer desired. */
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

/** Names who installed the object, from the annotations of Helm and kubectl. */
export function formerOwnerOf({ metadata }: Pick<ManagedObject, 'metadata'>): string {
  const { annotations = {} } = metadata;
  const release = annotations['meta.helm.sh/release-name'];
  if (release !== undefined) return `Helm release ${release}`;
  const byKubectl = 'kubectl.kubernetes.io/last-applied-configuration' in annotations;
  return byKubectl ? 'kubectl apply' : 'another program';
}
