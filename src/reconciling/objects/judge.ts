// SPDX-License-Identifier: Apache-2.0
import { beyond, lacking } from './compare.ts';
import { isRecord, titleOf, type ManagedObject, type ObjectOwner } from './managed-object.ts';
import { ruleOf } from './kinds.ts';

/** What to do with one object. */
export interface Judgement {
  /**
   * - `make`: it is not there.
   * - `apply`: it lacks what is desired.
   * - `correct`: it has all that is desired, and something of others where the whole is ours.
   * - `leave`: nothing to do.
   */
  readonly action: 'make' | 'apply' | 'correct' | 'leave';
  /** What is applied: the desired object, as far as it can be put into place. */
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
  const { care, exact } = ruleOf(desired);
  const leave: Judgement = { action: 'leave', desired, paths: [] };
  if (care === 'made') return leave;
  const other = otherController(live, desired.metadata.ownerReferences);
  if (other !== undefined) {
    const problem = `${titleOf(desired)} is controlled by ${other.kind} ${other.name}; remove one of the two`;
    return { ...leave, problem };
  }
  const placed = withRoleRef(desired, live);
  const wanted = placed.desired;
  const problem = placed.problem === undefined ? {} : { problem: placed.problem };
  const missing = lacking(wanted, live);
  if (missing.length > 0) return { action: 'apply', desired: wanted, paths: missing, ...problem };
  const foreign = exact.flatMap((path) => foreignIn(wanted, live, path)).filter(isNot(accepted));
  const action = foreign.length > 0 ? 'correct' : 'leave';
  return { action, desired: wanted, paths: foreign, ...problem };
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

/** roleRef is immutable: with another one, the rest is kept all the same. */
function withRoleRef(
  desired: ManagedObject,
  live: ManagedObject,
): { readonly desired: ManagedObject; readonly problem?: string } {
  const { roleRef } = desired;
  if (roleRef === undefined || lacking(roleRef, live['roleRef']).length === 0) return { desired };
  const [now, wanted] = [roleText(live['roleRef']), roleText(roleRef)];
  const problem = `${titleOf(desired)} binds ${now} and not ${wanted}; roleRef cannot be changed: delete the binding, and it is made again`;
  return { desired: { ...desired, roleRef: live['roleRef'] }, problem };
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
 * The JSON patch that takes everything of others out of the exact fields. It holds for this resourceVersion of this
 * object only: with another one the API server answers 409.
 */
export function correction(
  desired: ManagedObject,
  live: ManagedObject,
): readonly FencedOperation[] {
  const { uid, resourceVersion } = live.metadata;
  const operations = ruleOf(desired).exact.flatMap((path): FencedOperation[] => {
    if (foreignIn(desired, live, path).length === 0) return [];
    const value = valueAt(desired, path);
    const pointer = pointerOf(path);
    return value === undefined
      ? [{ op: 'remove', path: pointer }]
      : [{ op: 'replace', path: pointer, value }];
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
