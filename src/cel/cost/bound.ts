// SPDX-License-Identifier: Apache-2.0
import { MAX_KEY, type Shape } from './shape.ts';

/** Maximum size of a value: characters of a string, items of a list, and 1 for everything else. */
export interface Bound {
  readonly size: number;
  /** Items of a list, values of a map. */
  readonly of?: Bound;
  /** Keys of a map. */
  readonly keys?: Bound;
  readonly fields?: Readonly<Record<string, Bound>>;
  /** Value of a string literal. */
  readonly text?: string;
}

export const SCALAR: Bound = { size: 1 };
const KEY: Bound = { size: MAX_KEY };

export function boundOf(shape: Shape): Bound {
  switch (shape.kind) {
    case 'int':
      return SCALAR;
    case 'string':
      return { size: shape.max };
    case 'list':
      return { size: shape.max, of: boundOf(shape.of) };
    case 'map':
      return { size: shape.max, of: boundOf(shape.of), keys: KEY };
    case 'object':
      return {
        size: 1,
        fields: Object.fromEntries(
          Object.entries(shape.fields).map(([name, each]) => [name, boundOf(each)]),
        ),
      };
  }
}

/** Returns the total size of a value, including the contents of its items. */
export function volume(bound: Bound): number {
  return bound.size * Math.max(1, bound.of === undefined ? 1 : volume(bound.of));
}

/** Returns the maximum of two bounds, part by part. */
export function larger(a: Bound, b: Bound): Bound {
  const of = eitherOf(a.of, b.of);
  const keys = eitherOf(a.keys, b.keys);
  // Values of one type have the same fields, and fields have fixed bounds.
  const fields = a.fields ?? b.fields;
  return {
    size: Math.max(a.size, b.size),
    ...(fields === undefined ? {} : { fields }),
    ...(of === undefined ? {} : { of }),
    ...(keys === undefined ? {} : { keys }),
  };
}

function eitherOf(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  return a === undefined || b === undefined ? (a ?? b) : larger(a, b);
}

/** Returns the bound of two joined strings or lists. */
export function sum(a: Bound, b: Bound): Bound {
  return { ...larger(a, b), size: a.size + b.size };
}

/** Returns the bound of a list of at most `size` items of bound `of`. */
export function listOf(size: number, of: Bound): Bound {
  return { size, of };
}
