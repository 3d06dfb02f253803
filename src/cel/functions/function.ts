// SPDX-License-Identifier: Apache-2.0
import { SCALAR, volume, type Bound } from '../cost/bound.ts';

/** The worst-case cost of a call. The receiver comes first in `args`. */
export interface Price {
  /** In the unit of cost.ts: one visited node, about 20 ns. */
  readonly cost: (args: readonly Bound[]) => number;
  readonly result: (args: readonly Bound[]) => Bound;
}

export interface CelFunction {
  /** The namespace: `sets` for `sets.contains`. */
  readonly namespace?: string;
  readonly name: string;
  /** `receiver.(parameters): result` in the notation of the CEL library, without the name. */
  readonly signatures: readonly Signature[];
  readonly price: Price;
  /** The library has a function of this name with a meaning that differs from Kubernetes'. Ours runs. */
  readonly shadows?: boolean;
}

export interface Signature {
  readonly receiver?: string;
  readonly parameters: string;
  readonly returns: string;
  readonly handler: (...args: never[]) => unknown;
}

/** The cost of reading each character once, about half a nanosecond each. */
const CHARACTER = 0.02;

/**
 * A cost that grows with the total size of the arguments.
 *
 * @param base - what a call costs on the shortest text
 */
export function linear(result: Price['result'], weight: number = CHARACTER, base = 0): Price {
  return {
    cost: (args) => base + weight * args.reduce((total, each) => total + volume(each), 0),
    result,
  };
}

/** A call that parses its text: it runs some regular expressions, which takes 1 to 2 µs on the shortest. */
export const PARSED = 100;

export const toScalar = (): Bound => SCALAR;

/** The result is no longer than the receiver (or the only argument). */
export const toSame = (args: readonly Bound[]): Bound => args[0] ?? SCALAR;
