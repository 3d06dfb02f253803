// SPDX-License-Identifier: Apache-2.0
import { privateKey } from '../support/pki/keys.ts';
import type { ChainCase } from './chains/case.ts';
import type { Dice } from './dice.ts';
import { diceOf } from './mutants.ts';
import { mutateTree, valuesOf } from './mutate-tree.ts';
import type { ChainParts } from './oracle.ts';
import { seal } from './seal.ts';
import { encodeTree, nodeAtPath, parseTree, type Node } from './tree.ts';

/** How far the moment may move: chains of the corpus are valid for a year. */
const DAY_MS = 86_400_000;
const MAX_DAYS = 300;

/** Larger chains would make thousands of mutations wait for one. */
const MAX_BETWEEN = 4;

/** The mutation of this number of one of the chains: most are signed again by their issuer. */
export function mutantChains(cases: readonly ChainCase[]): (number: number) => ChainParts {
  const chains = cases
    .map(({ parts, wrong }) => ({ wrong, ...parts() }))
    .filter(({ intermediates }) => intermediates.length <= MAX_BETWEEN);
  const good = chains.filter(({ wrong }) => wrong === '');
  const others = chains.flatMap(({ leaf, roots }) =>
    [leaf, ...roots].flatMap((der) => valuesOf(parseTree(der))),
  );
  const small = others.filter((value) => encodeTree(value).length < 200);
  return (number) => {
    const dice = diceOf(number);
    const chain = dice.of(dice.roll(4) === 0 ? chains : good);
    if (dice.roll(12) === 0) return moved(chain, dice);
    const all = [chain.leaf, ...chain.intermediates, ...chain.roots];
    const which = dice.roll(all.length);
    all[which] = mutated(all[which] ?? chain.leaf, dice, small);
    const [leaf = chain.leaf, ...rest] = all;
    return {
      leaf,
      intermediates: rest.slice(0, chain.intermediates.length),
      roots: rest.slice(chain.intermediates.length),
      now: chain.now,
    };
  };
}

/** At another moment, or with a certificate in another place. */
function moved(chain: ChainParts, dice: Dice): ChainParts {
  const { leaf, intermediates, roots, now } = chain;
  const later = now + (dice.roll(2 * MAX_DAYS) - MAX_DAYS) * DAY_MS;
  return dice.of([
    { ...chain, now: later },
    { ...chain, intermediates: roots, roots: intermediates },
    { ...chain, intermediates: intermediates.slice(1) },
    { ...chain, leaf: intermediates[0] ?? leaf },
  ]);
}

function mutated(der: Uint8Array, dice: Dice, others: readonly Node[]): Uint8Array {
  const root = parseTree(der);
  const covered = nodeAtPath(root, [0]);
  const issuer = issuerOf(root);
  for (let times = dice.roll(4) === 0 ? 2 : 1; times > 0; times--) {
    // Extensions and validity are what paths are about.
    const part = dice.roll(3) === 0 ? covered : (covered.children?.at(-1) ?? covered);
    mutateTree(part, dice, others);
  }
  if (dice.roll(8) !== 0) seal(root, privateKey('P-256', issuer));
  return encodeTree(root);
}

/** The chains of the corpus name CAs by one common name, and keys by the same. */
function issuerOf(root: Node): string {
  return Buffer.from(nodeAtPath(root, [0, 3, 0, 0, 1]).content).toString('latin1');
}
