// SPDX-License-Identifier: Apache-2.0
import { SCALAR, volume, type Bound } from '../cost/bound.ts';

/** What a call costs at worst: the receiver comes first in `args`. */
export interface Price {
  /** In the unit of cost.ts: the visit of one node, some 20 ns. */
  readonly cost: (args: readonly Bound[]) => number;
  readonly result: (args: readonly Bound[]) => Bound;
}

export interface CelFunction {
  /** `sets` of `sets.contains`. */
  readonly namespace?: string;
  readonly name: string;
  /** `receiver.(parameters): result` in the notation of the CEL library, without the name. */
  readonly signatures: readonly Signature[];
  readonly price: Price;
  /** The library has one of that name, with another meaning than Kubernetes'. Ours is run. */
  readonly shadows?: boolean;
}

export interface Signature {
  readonly receiver?: string;
  readonly parameters: string;
  readonly returns: string;
  readonly handler: (...args: never[]) => unknown;
}

/** Reads each character once, for about half a nanosecond. */
const CHARACTER = 0.02;

/** Work that grows with all that goes in. */
export function linear(result: Price['result'], weight: number = CHARACTER): Price {
  return { cost: (args) => weight * args.reduce((total, each) => total + volume(each), 0), result };
}

export const toScalar = (): Bound => SCALAR;

/** No longer than the receiver (or the only argument). */
export const toSame = (args: readonly Bound[]): Bound => args[0] ?? SCALAR;
