// SPDX-License-Identifier: Apache-2.0
import { SCALAR, volume, type Bound } from '../cost/bound.ts';

/** Worst-case cost of a call. The receiver comes first in `args`. */
export interface Price {
  /** Cost in the unit of cost.ts: one visited node, about 20 ns. */
  readonly cost: (args: readonly Bound[]) => number;
  readonly result: (args: readonly Bound[]) => Bound;
}

export interface CelFunction {
  /** Namespace of the function: `sets` for `sets.contains`. */
  readonly namespace?: string;
  readonly name: string;
  /** `receiver.(parameters): result` in the notation of the CEL library, without the name. */
  readonly signatures: readonly Signature[];
  readonly price: Price;
  /** Whether the library has a function of this name that differs from Kubernetes'. Ours runs. */
  readonly shadows?: boolean;
}

export interface Signature {
  readonly receiver?: string;
  readonly parameters: string;
  readonly returns: string;
  readonly handler: (...args: never[]) => unknown;
}

/** Cost of reading each character once, about half a nanosecond each. */
const CHARACTER = 0.02;

/**
 * Returns a cost that grows with the total size of the arguments.
 *
 * @param base - cost of a call on the shortest text
 */
export function linear(result: Price['result'], weight: number = CHARACTER, base = 0): Price {
  return {
    cost: (args) => base + weight * args.reduce((total, each) => total + volume(each), 0),
    result,
  };
}

/**
 * Cost of a call that parses its text. It runs some regular expressions, which takes 1 to 2 µs on
 * the shortest text.
 */
export const PARSED = 100;

export const toScalar = (): Bound => SCALAR;

/** Returns the bound of the receiver (or the only argument), which the result does not exceed. */
export const toSame = (args: readonly Bound[]): Bound => args[0] ?? SCALAR;
