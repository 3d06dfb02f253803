// SPDX-License-Identifier: Apache-2.0
import { beyond, lacking } from './compare.ts';
import { isOthers, withOthers } from './others.ts';
import { isRecord } from '#base/record.ts';
import { titleOf, type ManagedObject, type ObjectOwner } from './managed-object.ts';
import { ruleOf } from './kinds.ts';
import { appliedDigestOf } from './mark.ts';

/** The next action for one object. */
export interface ObjectPlan {
  /**
   * - `create`: it does not exist.
   * - `recreate`: others added what the operator may not remove: delete the object, and create it
   *   again.
   * - `correct`: others added something to a field that the operator manages whole.
   * - `apply`: it lacks a desired field.
   * - `none`: nothing to do.
   */
  readonly action: 'create' | 'recreate' | 'correct' | 'apply' | 'none';
  /** The object to apply. */
  readonly desired: ManagedObject;
  /** JSON pointers of the differences. */
  readonly paths: readonly string[];
  /**
   * JSON pointers of what others added to fields that the operator manages whole. The API server
   * may reject an apply because of them.
   */
  readonly foreign?: readonly string[];
  /** A fault that the operator does not correct by force. */
  readonly problem?: string;
}

/**
 * Decides on one object. Pure.
 *
 * @param live - undefined if it does not exist
 * @param accepted - JSON pointers of fields that the API server itself restores
 */
export function planObject(
  desired: ManagedObject,
  live: ManagedObject | undefined,
  accepted: ReadonlySet<string> = new Set(),
): ObjectPlan {
  if (live === undefined) return { action: 'create', desired, paths: [] };
  const { care, exact, remadeFor } = ruleOf(desired);
  const none: ObjectPlan = { action: 'none', desired, paths: [] };
  if (care === 'made') return none;
  const other = otherController(live, desired.metadata.ownerReferences);
  if (other !== undefined) {
    const problem = `${titleOf(desired)} is controlled by ${other.kind} ${other.name}; remove one of the two`;
    return { ...none, problem };
  }
  const otherRole = otherRoleRef(desired, live);
  if (otherRole !== undefined) return { ...none, problem: otherRole };
  if (remadeFor !== undefined && live[remadeFor] !== undefined)
    return { action: 'recreate', desired, paths: [`/${remadeFor}`] };
  const foreign = exact.flatMap((path) => foreignIn(desired, live, path)).filter(isNot(accepted));
  return judgeFields(desired, live, foreign);
}

/**
 * Returns the JSON pointers of the fields of `spec` that a live object lacks, or has besides.
 * Others may fill in some fields of a kind.
 */
export function specDifferences(desired: ManagedObject, live: ManagedObject): readonly string[] {
  return [
    ...lacking(desired['spec'], live['spec'], '/spec', 'spec'),
    ...foreignIn(desired, live, ['spec']),
  ];
}

function judgeFields(
  desired: ManagedObject,
  live: ManagedObject,
  foreign: readonly string[],
): ObjectPlan {
  // The desired object changed, or the operator has not adopted it yet. An apply removes what it
  // applied before.
  const isChanged = appliedDigestOf(live) !== appliedDigestOf(desired);
  if (foreign.length > 0 && !isChanged)
    return { action: 'correct', desired, paths: foreign, foreign };
  const paths = lacking(desired, live);
  return { action: paths.length > 0 ? 'apply' : 'none', desired, paths, foreign };
}

/** Returns the pointers of what others added to the field at `path`. */
function foreignIn(
  desired: ManagedObject,
  live: ManagedObject,
  path: readonly string[],
): readonly string[] {
  const { others } = ruleOf(desired);
  return beyond(valueAt(desired, path), valueAt(live, path), pointerOf(path), path.at(-1)).filter(
    (pointer) => !others.some((each) => isOthers(each, pointer)),
  );
}

function isNot(accepted: ReadonlySet<string>): (path: string) => boolean {
  return (path) => !accepted.has(path);
}

/**
 * Returns the problem of a binding to another role. Since roleRef is immutable, the binding stays
 * as it is: it must not grant another role to the operator's subjects.
 */
function otherRoleRef(desired: ManagedObject, live: ManagedObject): string | undefined {
  const { roleRef } = desired;
  if (roleRef === undefined || lacking(roleRef, live['roleRef']).length === 0) return undefined;
  const [now, wanted] = [roleText(live['roleRef']), roleText(roleRef)];
  return `${titleOf(desired)} binds ${now}, not ${wanted}; roleRef is immutable: delete the binding, and the operator creates it again`;
}

function roleText(roleRef: unknown): string {
  return isRecord(roleRef) ? `${String(roleRef['kind'])} ${String(roleRef['name'])}` : 'nothing';
}

function otherController(
  { metadata }: ManagedObject,
  ours: readonly ObjectOwner[] = [],
): ObjectOwner | undefined {
  return metadata.ownerReferences?.find(
    ({ controller, uid }) => controller === true && !ours.some((each) => each.uid === uid),
  );
}

/** One operation of a JSON patch (RFC 6902). */
export type FencedOperation =
  | { readonly op: 'test' | 'replace' | 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Returns the JSON patch that makes the exact fields as desired, and changes nothing else. It holds
 * for this resourceVersion of this object only: the API server answers 409 for another one.
 */
export function correction(
  desired: ManagedObject,
  live: ManagedObject,
): readonly FencedOperation[] {
  const { uid, resourceVersion } = live.metadata;
  const { exact, others } = ruleOf(desired);
  const operations = exact.flatMap((path): FencedOperation[] => {
    const found = valueAt(live, path);
    const value = withOthers(valueAt(desired, path), found, { path, others });
    const differs = foreignIn(desired, live, path).length > 0 || lacking(value, found).length > 0;
    if (!differs) return [];
    const pointer = pointerOf(path);
    return value === undefined
      ? [{ op: 'remove', path: pointer }]
      : [{ op: 'add', path: pointer, value }];
  });
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ...operations,
  ];
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), object);
}

function pointerOf(path: readonly string[]): string {
  return path.map((key) => `/${key}`).join('');
}
