// SPDX-License-Identifier: Apache-2.0
/** Objects by their keys, with the keys' type. */

/** Reports whether a constant has the key itself. */
export function isKeyOf<T extends object>(constant: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(constant, key);
}

/** Returns the keys of a constant. A value of a wider type may have more keys than its type. */
export function keysOf<T extends object>(constant: T): readonly (keyof T & string)[] {
  // Object.keys returns `string[]`, since a value may have more keys than its type.
  return Object.keys(constant) as (keyof T & string)[];
}

/** Returns an object with the member, or an empty one without a value. */
export function present<K extends string, V>(
  key: K,
  value: V | undefined,
): { readonly [name in K]?: V } {
  // TypeScript gives a computed key the type `string`.
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in K]?: V });
}

/** Returns an object of entries that have every key of the type. */
export function recordOf<K extends string, V>(
  entries: readonly (readonly [key: K, value: V])[],
): Readonly<Record<K, V>> {
  // Object.fromEntries gives keys the type `string`.
  return Object.fromEntries(entries) as Readonly<Record<K, V>>;
}
