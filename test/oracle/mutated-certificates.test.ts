// SPDX-License-Identifier: Apache-2.0
import { test } from 'node:test';
import { judgedBy } from './compare.ts';
import { factsOf } from './facts.ts';
import { holdLaw } from './law.ts';
import { mutationsOf } from './length.ts';
import { mutantsOf } from './mutants.ts';
import { ourCertificate } from './ours.ts';
import { authoritySeeds, formSeeds, seedsOf } from './seeds.ts';

const count = mutationsOf('certificates');

test(`${count} mutated certificates: we accept none that Go refuses, and read as Go`, async (t) => {
  const mutants = mutantsOf([...seedsOf('certificate'), ...authoritySeeds(), ...formSeeds()]);
  await holdLaw(t, {
    count,
    kind: 'f',
    made: judgedBy(mutants, ourCertificate),
    same: (input, { reason }) => {
      const ours = factsOf(input);
      return ours === reason ? undefined : `we read\n${ours}\nand Go reads\n${reason}`;
    },
  });
});
