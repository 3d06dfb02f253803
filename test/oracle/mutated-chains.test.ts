// SPDX-License-Identifier: Apache-2.0
import { test } from 'node:test';
import { CHAINS } from './chains/index.ts';
import { holdLaw } from './law.ts';
import { mutationsOf } from './length.ts';
import { mutantChains } from './mutant-chains.ts';
import { chainOf } from './oracle.ts';
import { ourChain } from './ours.ts';

const count = mutationsOf('chains');

test(`of ${count} mutated chains none that Go refuses is accepted`, async (t) => {
  const mutant = mutantChains(CHAINS);
  await holdLaw(t, {
    count,
    kind: 'v',
    made: (number) => {
      const parts = mutant(number);
      return { input: chainOf(parts), ours: ourChain(parts) };
    },
  });
});
