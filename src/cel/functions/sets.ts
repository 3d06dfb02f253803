// SPDX-License-Identifier: Apache-2.0
/**
 * `sets.contains`, `sets.equivalent`, `sets.intersects` of CEL's sets library, for strings and
 * numbers.
 */
import { volume } from '../cost/bound.ts';
import { toScalar, type CelFunction, type Price, type Signature } from './function.ts';

/** The namespace `sets`. */
export class Sets {
  readonly kind = 'sets';
}

type Item = string | bigint | boolean;
type Test = (sets: Sets, a: readonly Item[], b: readonly Item[]) => boolean;

function contains(_sets: Sets, a: readonly Item[], b: readonly Item[]): boolean {
  const held = new Set(a);
  return b.every((each) => held.has(each));
}

function equivalent(sets: Sets, a: readonly Item[], b: readonly Item[]): boolean {
  return contains(sets, a, b) && contains(sets, b, a);
}

function intersects(_sets: Sets, a: readonly Item[], b: readonly Item[]): boolean {
  const held = new Set(a);
  return b.some((each) => held.has(each));
}

function signatures(handler: Test): readonly Signature[] {
  return ['string', 'int', 'bool'].map((item) => ({
    receiver: 'Sets',
    parameters: `list<${item}>, list<${item}>`,
    returns: 'bool',
    handler,
  }));
}

/** Each item is hashed once, which reads it once. */
const PRICE: Price = {
  cost: (args) => args.reduce((total, each) => total + each.size + 0.02 * volume(each), 0),
  result: toScalar,
};

export const SETS: readonly CelFunction[] = [
  { namespace: 'sets', name: 'contains', signatures: signatures(contains), price: PRICE },
  { namespace: 'sets', name: 'equivalent', signatures: signatures(equivalent), price: PRICE },
  { namespace: 'sets', name: 'intersects', signatures: signatures(intersects), price: PRICE },
];
