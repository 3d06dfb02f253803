// SPDX-License-Identifier: Apache-2.0
import { test } from 'node:test';
import { judgedBy } from './compare.ts';
import { holdLaw } from './law.ts';
import { mutationsOf } from './length.ts';
import { mutantsOf } from './mutants.ts';
import { ourRequest } from './ours.ts';
import { seedsOf } from './seeds.ts';

const count = mutationsOf('requests');

test(`of ${count} mutated requests none that Go refuses is accepted`, async (t) => {
  await holdLaw(t, { count, kind: 'r', made: judgedBy(mutantsOf(seedsOf('request')), ourRequest) });
});
