// SPDX-License-Identifier: Apache-2.0
import { Dice } from './dice.ts';
import { mutateBytes } from './mutate-bytes.ts';
import { mutateTree, valuesOf } from './mutate-tree.ts';
import { seal } from './seal.ts';
import type { Seed } from './seeds.ts';
import { copyTree, encodeTree, type Node } from './tree.ts';

/**
 * Fixed, so that the mutation of a number is the same in every run, but for RSA keys and the
 * numbers in signatures. `ORACLE_SEED` gives other mutations.
 */
const SEED = Number(process.env['ORACLE_SEED'] ?? 0x5eed);

/** Spreads neighbouring numbers over all dice. */
const SPREAD = 0x9e3779b1;

export function diceOf(number: number): Dice {
  return new Dice(SEED ^ Math.imul(number, SPREAD));
}

/** The mutation of this number of one of the seeds. */
export type Mutants = (number: number) => Uint8Array;

/** Changes of octets, and of values of which most are signed again afterwards. */
export function mutantsOf(seeds: readonly Seed[]): Mutants {
  const values = seeds.flatMap(({ tree }) => (tree === undefined ? [] : valuesOf(tree)));
  const small = values.filter((value) => encodeTree(value).length < 300);
  return (number) => {
    const dice = diceOf(number);
    const seed = dice.of(seeds);
    const times = dice.roll(4) === 0 ? 2 + dice.roll(3) : 1;
    if (seed.tree === undefined || dice.roll(5) === 0) return ofBytes(seed.bytes, times, dice);
    return ofTree({ ...seed, tree: seed.tree }, times, dice, small);
  };
}

function ofBytes(bytes: Uint8Array, times: number, dice: Dice): Uint8Array {
  let mutant = bytes;
  for (let i = 0; i < times; i++) mutant = mutateBytes(mutant, dice);
  return mutant;
}

function ofTree(
  { tree, key }: Seed & { readonly tree: Node },
  times: number,
  dice: Dice,
  others: readonly Node[],
): Uint8Array {
  const root = copyTree(tree);
  // Mostly what the signature covers: there is more of it, and it can be signed again.
  const part = dice.roll(8) === 0 ? root : (root.children?.[0] ?? root);
  for (let i = 0; i < times; i++) mutateTree(part, dice, others);
  if (dice.roll(4) !== 0) seal(root, key);
  return encodeTree(root);
}
