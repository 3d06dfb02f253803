// SPDX-License-Identifier: Apache-2.0
import { test } from 'node:test';
import { judgedBy } from './compare.ts';
import { holdLaw } from './law.ts';
import { mutationsOf } from './length.ts';
import { mutantsOf } from './mutants.ts';
import { ourCertificate } from './ours.ts';
import { authoritySeeds, seedsOf } from './seeds.ts';

const count = mutationsOf('certificates');

test(`of ${count} mutated certificates none that Go refuses is accepted`, async (t) => {
  const mutants = mutantsOf([...seedsOf('certificate'), ...authoritySeeds()]);
  await holdLaw(t, { count, kind: 'c', made: judgedBy(mutants, ourCertificate) });
});
