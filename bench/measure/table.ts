// SPDX-License-Identifier: Apache-2.0
import { rounded } from './ratios.ts';

const NAME_WIDTH = 20;

/** One line: who, and every figure with its name. */
export function printRound(round: number, name: string, figures: object): void {
  const all = Object.entries(figures).map(([key, value]) => `${key} ${rounded(Number(value))}`);
  console.log(`round ${round}  ${name.padEnd(NAME_WIDTH)}  ${all.join('  ')}`);
}

export function printRatios(ratios: object): void {
  console.log('');
  for (const [name, ratio] of Object.entries(ratios)) console.log(`${name}  ${String(ratio)}`);
}
