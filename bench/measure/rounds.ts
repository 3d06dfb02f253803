// SPDX-License-Identifier: Apache-2.0
import { printRound } from './table.ts';
import { inTurns } from './turns.ts';
import { leastDisturbed, type Shared } from './undisturbed.ts';

/** Who takes a turn in each round. */
export interface Turn<T> {
  readonly name: string;
  readonly measure: () => Promise<T>;
}

/** Everybody in turns, so many rounds; what each measured, round by round. */
export async function runRounds<T extends Shared>(
  all: readonly Turn<T>[],
  rounds: number,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const measured = new Map<string, T[]>(all.map(({ name }) => [name, []]));
  for (const [round, turns] of inTurns(all, rounds).entries()) {
    for (const { name, measure } of turns) {
      const one = await leastDisturbed(measure);
      measured.get(name)?.push(one);
      printRound(round + 1, name, one);
    }
  }
  return measured;
}
