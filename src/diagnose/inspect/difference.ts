// SPDX-License-Identifier: Apache-2.0
import type { InspectedObject } from './inspected.ts';

/** A field with different values in two objects. */
export interface FieldDifference {
  /** `subject`, `names.dnsNames`. */
  readonly field: string;
  /** Undefined if the object lacks the field. */
  readonly left?: string;
  readonly right?: string;
}

/** Fields that are not compared: they hold where an object was found. */
const IGNORED: ReadonlySet<string> = new Set(['source', 'alias']);

/** Returns the fields in which two objects differ, sorted by name. */
export function differenceOf(
  left: InspectedObject,
  right: InspectedObject,
): readonly FieldDifference[] {
  const [a, b] = [fieldsOf(left), fieldsOf(right)];
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((field) => a.get(field) !== b.get(field))
    .sort()
    .map((field) => ({ field, ...side('left', a.get(field)), ...side('right', b.get(field)) }));
}

function side(name: 'left' | 'right', text: string | undefined): object {
  return text === undefined ? {} : { [name]: text };
}

function fieldsOf(value: object, prefix = ''): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const [name, each] of Object.entries<unknown>({ ...value })) {
    if (prefix === '' && IGNORED.has(name)) continue;
    const isRecord = typeof each === 'object' && each !== null && !Array.isArray(each);
    if (isRecord)
      for (const [field, text] of fieldsOf(each, `${prefix}${name}.`)) all.set(field, text);
    else all.set(prefix + name, textOf(each));
  }
  return all;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
