// SPDX-License-Identifier: Apache-2.0
/** Merges two renderings of the same objects, with a condition where they differ. */
import { isDeepStrictEqual } from 'node:util';

/** One of two values. Undefined: absent. */
export class Either {
  readonly condition: string;
  readonly yes: unknown;
  readonly no: unknown;

  constructor(condition: string, yes: unknown, no: unknown) {
    this.condition = condition;
    this.yes = yes;
    this.no = no;
  }
}

/**
 * @param condition - of a template: when `yes` holds
 * @returns `yes` where both are equal, else their parts, or an {@link Either}
 * @throws TypeError if `yes` omits an item of a list, which no template of the chart needs
 */
export function vary(condition: string, yes: unknown, no: unknown): unknown {
  if (yes === no) return yes;
  if (Array.isArray(yes) && Array.isArray(no)) return varyLists(condition, yes, no);
  if (!isObject(yes) || !isObject(no))
    return isDeepStrictEqual(yes, no) ? yes : new Either(condition, yes, no);
  const keys = [...new Set([...Object.keys(yes), ...Object.keys(no)])];
  const parts = keys.map((key) => [key, vary(condition, yes[key], no[key])] as const);
  // Keeps equal parts as the same objects. Comparing whole trees at each level takes much longer.
  const isWhole =
    Object.keys(no).length === keys.length && parts.every(([k, part]) => part === yes[k]);
  return isWhole ? yes : Object.fromEntries(parts);
}

function varyLists(condition: string, yes: readonly unknown[], no: readonly unknown[]): unknown {
  if (yes.length === no.length) {
    const parts = yes.map((each, index) => varyItem(condition, each, no[index]));
    return parts.every((part, index) => part === yes[index]) ? yes : parts;
  }
  let next = 0;
  const items = yes.map((each) => {
    if (!isSame(each, no[next])) return new Either(condition, each, undefined);
    next += 1;
    return vary(condition, each, no[next - 1]);
  });
  if (next < no.length) throw new TypeError(`an item is only there without ${condition}`);
  return items;
}

/** Items with different names, such as volumes, are different items. They are not merged. */
function varyItem(condition: string, yes: unknown, no: unknown): unknown {
  const isOther = isObject(yes) && isObject(no) && yes['name'] !== no['name'];
  return isOther ? new Either(condition, yes, no) : vary(condition, yes, no);
}

/** Reports whether both are equal, the same Kubernetes object, or a rule with other names. */
function isSame(one: unknown, other: unknown): boolean {
  if (isDeepStrictEqual(one, other)) return true;
  if (!isObject(one) || !isObject(other)) return false;
  if (one['resourceNames'] !== undefined && other['resourceNames'] !== undefined)
    return isDeepStrictEqual({ ...one, resourceNames: [] }, { ...other, resourceNames: [] });
  if (one['kind'] === undefined) return false;
  return one['kind'] === other['kind'] && isSamePlace(one['metadata'], other['metadata']);
}

function isSamePlace(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return false;
  return one['name'] === other['name'] && one['namespace'] === other['namespace'];
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return !Array.isArray(value) && !(value instanceof Either);
}
