// SPDX-License-Identifier: Apache-2.0
import { median } from './median.ts';

/** Three digits are more than the noise leaves. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** The median of each round's ratio: what disturbs a whole round is in both of its values. */
export function medianRatio(ours: readonly number[], others: readonly number[]): number {
  return rounded(median(ours.map((value, round) => value / (others[round] ?? NaN))));
}

/** Every field's median over the rounds. */
export function medians<T extends object>(rounds: readonly T[]): T {
  const fields = Object.keys(rounds[0] ?? {}) as (keyof T)[];
  const of = (field: keyof T): number => rounded(median(rounds.map((each) => Number(each[field]))));
  return Object.fromEntries(fields.map((field) => [field, of(field)])) as T;
}
