// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { Environment } from './environments.ts';
import { MAX_KEY, type Shape } from './cost/shape.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** A value in the types of the CEL library: bigint for int, Map for map. */
type CelValue = string | bigint | readonly CelValue[] | Map<string, CelValue>;

/**
 * Converts variables to the types of the CEL library, and checks each against the maximum size that
 * the cost of the expression assumes.
 *
 * Do not change an object after you pass it: its conversion is cached for as long as it lives.
 *
 * @throws SignerError CEL_EVALUATION (`wait`) if a value is missing, of another type, or too large
 */
export function celVariables(environment: Environment, variables: Variables): Variables {
  return Object.fromEntries(
    Object.entries(environment.variables).map(([name, shape]) => [
      name,
      remembered(variables[name], shape, name),
    ]),
  );
}

const known = new WeakMap<Shape, WeakMap<object, CelValue>>();

/** Converts each object once: all expressions of a policy read the same immutable request. */
function remembered(value: unknown, shape: Shape, name: string): CelValue {
  if (typeof value !== 'object' || value === null) return celValue(value, shape, name);
  const values = known.get(shape) ?? new WeakMap<object, CelValue>();
  known.set(shape, values);
  const before = values.get(value);
  if (before !== undefined) return before;
  const made = celValue(value, shape, name);
  values.set(value, made);
  return made;
}

function celValue(value: unknown, shape: Shape, path: string): CelValue {
  switch (shape.kind) {
    case 'string':
      if (typeof value !== 'string') throw unusable(path, 'is not a string');
      return bounded(value, value.length, shape.max, path);
    case 'int':
      if (typeof value !== 'number' || !Number.isSafeInteger(value))
        throw unusable(path, 'is not an integer');
      return BigInt(value);
    case 'list':
      if (!Array.isArray(value)) throw unusable(path, 'is not a list');
      bounded(value, value.length, shape.max, path);
      return value.map((each: unknown, index) => celValue(each, shape.of, `${path}[${index}]`));
    case 'map': {
      const entries = Object.entries(record(value, path));
      bounded(value, entries.length, shape.max, path);
      return new Map(
        entries.map(([key, each]) => [
          bounded(key, key.length, MAX_KEY, `a key of ${path}`),
          celValue(each, shape.of, `${path}[…]`),
        ]),
      );
    }
    case 'object': {
      const given = record(value, path);
      return new Map(
        Object.entries(shape.fields).map(([field, each]) => [
          field,
          celValue(given[field], each, `${path}.${field}`),
        ]),
      );
    }
  }
}

function record(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw unusable(path, 'is missing');
  // Members of any object are unknown until each is checked.
  return value as Readonly<Record<string, unknown>>;
}

function bounded<T>(value: T, size: number, max: number, path: string): T {
  if (size > max) throw unusable(path, `is of size ${size}, above the limit of ${max}`);
  return value;
}

function unusable(path: string, fault: string): SignerError {
  return new SignerError({
    code: 'CEL_EVALUATION',
    disposition: 'wait',
    message: `${path} ${fault}; cannot evaluate the expression`,
  });
}
