// SPDX-License-Identifier: Apache-2.0
import { beyond, lacking } from './compare.ts';
import { isRecord, titleOf, type ManagedObject, type ObjectOwner } from './managed-object.ts';
import { ruleOf } from './kinds.ts';

/** What to do with one object. */
export interface Judgement {
  /**
   * - `make`: it is not there.
   * - `remake`: it has something of others that may not be taken away: delete it, and make it again.
   * - `correct`: it has something of others where the whole is ours.
   * - `apply`: it lacks what is desired.
   * - `leave`: nothing to do.
   */
  readonly action: 'make' | 'remake' | 'correct' | 'apply' | 'leave';
  /** What is applied. */
  readonly desired: ManagedObject;
  /** JSON pointers of what differs. */
  readonly paths: readonly string[];
  /** What is wrong and is not put right by force. */
  readonly problem?: string;
}

/**
 * Decides on one object. Pure.
 *
 * @param live - undefined: it is not there
 * @param accepted - JSON pointers of fields that the API server itself puts back
 */
export function judge(
  desired: ManagedObject,
  live: ManagedObject | undefined,
  accepted: ReadonlySet<string> = new Set(),
): Judgement {
  if (live === undefined) return { action: 'make', desired, paths: [] };
  const { care, exact, remadeFor } = ruleOf(desired);
  const leave: Judgement = { action: 'leave', desired, paths: [] };
  if (care === 'made') return leave;
  const other = otherController(live, desired.metadata.ownerReferences);
  if (other !== undefined) {
    const problem = `${titleOf(desired)} is controlled by ${other.kind} ${other.name}; remove one of the two`;
    return { ...leave, problem };
  }
  const otherRole = otherRoleRef(desired, live);
  if (otherRole !== undefined) return { ...leave, problem: otherRole };
  const found = (action: Judgement['action'], paths: readonly string[]): Judgement => ({
    ...{ action, desired, paths },
  });
  if (remadeFor !== undefined && live[remadeFor] !== undefined)
    return found('remake', [`/${remadeFor}`]);
  const foreign = exact.flatMap((path) => foreignIn(desired, live, path)).filter(isNot(accepted));
  if (foreign.length > 0) return found('correct', foreign);
  const missing = lacking(desired, live);
  return found(missing.length > 0 ? 'apply' : 'leave', missing);
}

/** What of others is in the field at `path`. */
function foreignIn(
  desired: ManagedObject,
  live: ManagedObject,
  path: readonly string[],
): readonly string[] {
  return beyond(valueAt(desired, path), valueAt(live, path), pointerOf(path), path.at(-1));
}

function isNot(accepted: ReadonlySet<string>): (path: string) => boolean {
  return (path) => !accepted.has(path);
}

/** roleRef is immutable. A binding to another role is left as it is: our subjects are for no role of somebody else. */
function otherRoleRef(desired: ManagedObject, live: ManagedObject): string | undefined {
  const { roleRef } = desired;
  if (roleRef === undefined || lacking(roleRef, live['roleRef']).length === 0) return undefined;
  const [now, wanted] = [roleText(live['roleRef']), roleText(roleRef)];
  return `${titleOf(desired)} binds ${now} and not ${wanted}; roleRef cannot be changed: delete the binding, and it is made again`;
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
 * The JSON patch that makes the exact fields what is desired, and nothing else. It holds for this resourceVersion of this
 * object only: with another one the API server answers 409.
 */
export function correction(
  desired: ManagedObject,
  live: ManagedObject,
): readonly FencedOperation[] {
  const { uid, resourceVersion } = live.metadata;
  const operations = ruleOf(desired).exact.flatMap((path): FencedOperation[] => {
    const [value, found] = [valueAt(desired, path), valueAt(live, path)];
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
