// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps rules of a role until the pods that use them are gone. The chart decides the same by its
 * template `countersign.keptRules`, because Helm runs no code of ours. `test/helm` compares them.
 */
import { ruleOf } from './kinds.ts';
import { isRecord } from '#base/record.ts';
import { type ManagedObject, listOf } from './managed-object.ts';
import { appliedDigestOf, markOf } from './mark.ts';

/** An RBAC rule, as far as it is compared. */
type Rule = Readonly<Record<string, unknown>>;

/**
 * The lists of a rule. `resourceNames` is compared apart, because a rule without it covers every
 * name.
 */
const LISTS = ['apiGroups', 'resources', 'verbs', 'nonResourceURLs'] as const;

/** Reports whether objects of this kind grant permissions: roles and bindings. */
export function isGrant(object: Pick<ManagedObject, 'apiVersion' | 'kind'>): boolean {
  return ['roles', 'bindings'].includes(ruleOf(object).step);
}

/**
 * Returns the desired role with the live rules that it no longer has, or undefined if there are
 * none. Pure.
 *
 * Keeps only rules that an operator applied itself. Rules of other writers go at once.
 *
 * @param desired - without the operator's marks
 */
export function withKeptRules(
  desired: ManagedObject,
  live: ManagedObject | undefined,
): ManagedObject | undefined {
  const wide = withLiveRules(desired, live);
  if (live === undefined || wide === undefined) return undefined;
  return markOf({ ...desired, rules: rulesOf(live) }) === appliedDigestOf(live) ? wide : undefined;
}

/**
 * Does the same for live rules of any writer. Use it where a person applies the roles, and no
 * operator guards them.
 */
export function withLiveRules(
  desired: ManagedObject,
  live: ManagedObject | undefined,
): ManagedObject | undefined {
  if (live === undefined || ruleOf(desired).step !== 'roles') return undefined;
  const [before, wanted] = [rulesOf(live), rulesOf(desired)];
  if (before.every((rule) => wanted.some((each) => covers(each, rule)))) return undefined;
  const added = wanted.filter((rule) => !before.some((each) => covers(each, rule)));
  return { ...desired, rules: [...before, ...added] };
}

/** Reports whether one rule grants everything that the other one grants. */
function covers(wide: Rule, narrow: Rule): boolean {
  const names = listOf(wide['resourceNames']);
  const wanted = listOf(narrow['resourceNames']);
  const coversNames =
    names.length === 0 || (wanted.length > 0 && wanted.every((each) => names.includes(each)));
  return coversNames && LISTS.every((list) => includesAll(wide[list], narrow[list]));
}

function includesAll(wide: unknown, narrow: unknown): boolean {
  const all = listOf(wide);
  return listOf(narrow).every((each) => all.includes(each));
}

function rulesOf(role: ManagedObject): readonly Rule[] {
  const { rules } = role;
  return listOf(rules).filter(isRecord);
}
